// What roofcal is compared with: predictors that need no fit, or a trivial one, given the same calibration points.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/gpu_spec.h"
#include "core/sample.h"

namespace roofcal::accuracy {

/// A baseline predicts seconds from a shape.
using Baseline = std::function<double(const Shape&)>;

/// The hard bound alone.
[[nodiscard]] Baseline plain_roofline(const ClassKey& key, const GpuSpec& gpu);
/// The hard bound over one efficiency, the median of the points.
[[nodiscard]] Baseline constant_efficiency(const ClassKey& key, const GpuSpec& gpu, std::span<const Sample> points);
/// Mean log time of the five nearest points in log size, weighted by inverse distance.
[[nodiscard]] Baseline nearest_five(std::span<const Sample> points);
/// Linear interpolation in log size and log time, dimension by dimension through the nearest smaller and larger value
/// that the table holds: how AIConfigurator reads its tables. Constant beyond the ends of a dimension.
[[nodiscard]] Baseline grid_interpolation(std::span<const Sample> points);

/// The points of a regular sub-grid of `pool` with about `count` points (every dimension thinned evenly): the table
/// that a grid interpolation would have been given.
[[nodiscard]] std::vector<Sample> sub_grid(std::span<const Sample> pool, std::size_t count);

}  // namespace roofcal::accuracy
