// Which shapes of several classes to measure next: the greatest expected reduction of error a second of GPU time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "calibrate/plan/class_planner.h"

namespace roofcal {

struct PlanChoice {
  std::size_t of_class = 0;   ///< index into the classes
  std::size_t candidate = 0;  ///< index into PlanClass::candidates
  Seconds cost{};             ///< likely, of measuring it
};

struct Plan {
  std::vector<PlanChoice> choices;  ///< the most worthwhile first: where time runs short, what comes last goes
  Seconds cost{};
  /// Expected |log error| of each class before and after, on its targets.
  std::vector<double> error_before, error_after;
};

/// `progress`: called now and then with the seconds planned so far; may be empty. The same input, the same plan on one
/// machine and build. Errors: as ClassPlanner::create.
[[nodiscard]] Result<Plan> make_plan(std::span<const PlanClass> classes, Seconds budget, const MeasurementCost& cost,
                                     std::uint64_t seed, const std::function<void(Seconds)>& progress);

}  // namespace roofcal
