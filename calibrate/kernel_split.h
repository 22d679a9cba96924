// Several kernels under one name: whether the measurements show them, and what they make together. Private to the
// calibrate module.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "calibrate/class_model.h"
#include "calibrate/featurizer.h"
#include "core/sample.h"

namespace roofcal {

/// The samples by the featurizer's class_split.
[[nodiscard]] std::map<int, std::vector<Sample>> by_kernel(const Featurizer& featurizer,
                                                           std::span<const Sample> samples);

/// Whether the physical mean predicts points it has not seen clearly better when each class_split has weights of its
/// own. Not every library has a kernel for each: one model of all points is then the better one.
[[nodiscard]] bool hides_kernels(const Featurizer& featurizer, std::span<const Sample> points);

/// Figures of a class from those of its parts; errors and coverage weighted by rows, the 95th percentile the largest.
[[nodiscard]] FitFigures together(std::span<const FitFigures> parts);

/// How far runs of one shape lie apart: the standard deviation of log t over the repeats of a shape, pooled over all
/// shapes; 0 where nothing was repeated.
[[nodiscard]] double spread_of_repeats(std::span<const Sample> samples);

}  // namespace roofcal
