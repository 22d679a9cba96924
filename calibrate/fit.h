// From samples of one kernel class to a frozen ClassModel.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/class_model.h"
#include "core/result.h"
#include "core/sample.h"

namespace roofcal {

enum class Selection { spread, random, cheap };

struct FitOptions {
  std::optional<std::size_t> points;  ///< shapes to fit; all when absent
  Selection selection = Selection::spread;
  std::uint64_t seed = 1;
  bool publish_times = true;  ///< false: `nearest` keeps shapes only (built-in calibrations)
  bool compact = false;       ///< true: bounded size, for calibrations that are shipped
};

/// Median time a shape, in the order of the shapes: repeats of one key are one point. Precondition: times > 0.
[[nodiscard]] std::vector<Sample> merge_repeats(std::span<const Sample> samples);

/// Chooses `count` of `pool` (indices, ascending), knowing shapes only, never times.
[[nodiscard]] std::vector<std::size_t> select_points(const ClassKey& key, const GpuSpec& gpu,
                                                     std::span<const Sample> pool, std::size_t count,
                                                     Selection selection, std::uint64_t seed);

/// Fits one class. Same samples and options give the same bytes on one machine and build.
/// Errors: no sample, an operator without a featurizer, a GPU figure that is missing.
[[nodiscard]] Result<ClassModel> fit_class(const ClassKey& key, const GpuSpec& gpu, std::span<const Sample> samples,
                                           const FitOptions& options);

}  // namespace roofcal
