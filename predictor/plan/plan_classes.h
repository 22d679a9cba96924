// What a plan is made of: the classes to measure on a GPU, the shapes that matter in each, how long they likely take,
// and what is measured already.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/plan/class_planner.h"
#include "core/result.h"
#include "db/store.h"
#include "predictor/calibration_source.h"
#include "predictor/predictor.h"

namespace roofcal {

/// A call that matters, and how much.
struct WeightedCall {
  std::string op;
  Attributes attributes;
  Shape shape;
  CacheMode cache = CacheMode::hot;
  double weight = 1.0;
};

struct PlanQuestion {
  GpuSpec gpu;
  std::string op;         ///< empty: all
  std::string framework;  ///< whose calibrations and samples; empty: each operator's default, and all samples
  /// Empty: the hull of each class that is calibrated for the GPU, or, where none is, for others; all classes alike.
  std::vector<WeightedCall> calls;
  std::uint64_t seed = 1;
};

struct PlanClasses {
  std::vector<PlanClass> classes;     ///< in the order of their keys; `key` has no kernel
  std::vector<std::string> warnings;  ///< each once
};

/// Likely times come from a calibration, else from the roofline. `store` may be null: nothing is measured. Built-in
/// calibrations say which shapes matter and how long they take, but only what the store holds counts as measured.
/// Errors: not_calibrated, when there is nothing to plan for.
[[nodiscard]] Result<PlanClasses> plan_classes(const Predictor& predictor, const CalibrationSource& calibrations,
                                               const Store* store, const PlanQuestion& question);

}  // namespace roofcal
