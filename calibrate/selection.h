// What a choice of points means for the shapes that were not chosen. Private to the calibrate module.
#pragma once

#include <span>
#include <vector>

#include "core/gpu_spec.h"
#include "core/sample.h"

namespace roofcal {

/// How many shapes of the pool lie closest to each selected one, in the coordinates that select_points spreads in, but
/// no less than a fifth of the mean: points chosen to be far apart over-represent the rim.
[[nodiscard]] std::vector<double> represented(const ClassKey& key, const GpuSpec& gpu, std::span<const Sample> pool,
                                              std::span<const std::size_t> selected);

}  // namespace roofcal
