// Replaying measurement tables: a shape is "measured" by looking it up, at the price of a believable sample, and models
// of what was chosen are judged on held-out rows. Compares ways of choosing at equal GPU seconds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/accuracy/dataset.h"
#include "calibrate/plan/measurement_cost.h"
#include "core/result.h"
#include "db/catalogue.h"

namespace roofcal::plan_replay {

/// A way of choosing. All see shapes only; times when they have paid for them.
enum class Strategy {
  plan,          ///< make_plan, in rounds: each is planned from models of what was measured before
  random,        ///< shapes of all classes in random order
  random_equal,  ///< random, as many seconds for each class
  spread_equal,  ///< space-filling (select_points), as many seconds for each class
};
inline constexpr Strategy kStrategies[] = {Strategy::plan, Strategy::random, Strategy::random_equal,
                                           Strategy::spread_equal};
[[nodiscard]] std::string_view to_string(Strategy strategy);

/// What a class came to at a budget.
struct ClassOutcome {
  std::size_t points = 0;
  double seconds = 0.0;  ///< of GPU time
  double mape = 0.0;     ///< on the held-out rows
};

/// One strategy and seed: outcomes[budget][class].
using Outcomes = std::vector<std::vector<ClassOutcome>>;

struct Replay {
  std::vector<const accuracy::ClassData*> classes;
  const GpuCatalogue* catalogue = nullptr;
  MeasurementCost cost;
  std::vector<double> budgets;  ///< GPU seconds, ascending
  unsigned threads = 1;
};

[[nodiscard]] Result<Outcomes> run(const Replay& replay, Strategy strategy, std::uint64_t seed);
/// Every row of the pools.
[[nodiscard]] Result<std::vector<ClassOutcome>> whole_tables(const Replay& replay);

}  // namespace roofcal::plan_replay
