// The replay's outcomes as Markdown.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "benchmarks/plan/replay.h"

namespace roofcal::plan_replay {

struct Comparison {
  std::vector<ClassKey> keys;
  std::vector<std::size_t> pools;  ///< rows to choose from
  std::vector<double> budgets;
  std::uint64_t seeds = 1;
  std::vector<ClassOutcome> whole;
  std::map<Strategy, std::vector<Outcomes>> runs;  ///< one entry a seed
};

/// Seconds at which a falling curve reaches `error`, by straight lines in logarithms; 0 where it starts lower, infinity
/// where it never does. Precondition: as many errors as budgets, at least one.
[[nodiscard]] double seconds_to_reach(const std::vector<double>& budgets, const std::vector<double>& errors,
                                      double error);

/// `command`: what made it.
[[nodiscard]] std::string markdown(const Comparison& comparison, const MeasurementCost& cost,
                                   const std::string& command);

}  // namespace roofcal::plan_replay
