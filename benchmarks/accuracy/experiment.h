// One experiment: a class, a number of calibration points, several seeds; roofcal and the baselines on the same
// held-out rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/accuracy/dataset.h"
#include "benchmarks/accuracy/figures.h"
#include "core/gpu_spec.h"
#include "core/result.h"

namespace roofcal::accuracy {

/// How a class is fitted: on `points` shapes chosen from the pool (all when absent), or as the built-ins are (compact).
struct Setting {
  std::string name;  ///< "300", "all", "built-in"
  std::optional<std::size_t> points;
  bool compact = false;
};

/// Reads "300", "all" or "built-in".
[[nodiscard]] Result<Setting> parse_setting(const std::string& text);

/// The settings that docs/accuracy.md has for an operator.
[[nodiscard]] std::vector<Setting> usual_settings(const std::string& op);

struct Outcome {
  ClassKey key;
  std::string setting;
  std::size_t points = 0;  ///< fitted
  Figures roofcal;         ///< mean over the seeds
  double fit_seconds = 0.0;  ///< wall time of one fit, cross-validation included
  Figures roofline, constant, neighbours, grid;
  std::size_t grid_points = 0;
};

/// Fits `seeds` times (the seed changes the choice of points and the folds) and averages. Precondition: rows on both
/// sides.
[[nodiscard]] Result<Outcome> run(const ClassData& data, const GpuSpec& gpu, const Setting& setting,
                                  std::uint64_t seeds);

}  // namespace roofcal::accuracy
