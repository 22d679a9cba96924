#include "benchmarks/plan/replay_table.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace roofcal::plan_replay {
namespace {

// Whose classes a mean is over.
using Chosen = std::function<bool(const ClassKey&)>;

bool any(const ClassKey& /*key*/) { return true; }

double mean(const Comparison& comparison, const std::vector<ClassOutcome>& classes, const Chosen& chosen) {
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (!chosen(comparison.keys[i])) continue;
    sum += classes[i].mape;
    count += 1.0;
  }
  return sum / count;
}

// Mean error at each budget, over seeds and classes.
std::vector<double> curve(const Comparison& comparison, Strategy strategy, const Chosen& chosen) {
  std::vector<double> errors(comparison.budgets.size(), 0.0);
  const auto& runs = comparison.runs.at(strategy);
  for (const Outcomes& run : runs) {
    for (std::size_t i = 0; i < errors.size(); ++i) {
      errors[i] += mean(comparison, run[i], chosen) / static_cast<double>(runs.size());
    }
  }
  return errors;
}

std::size_t points(const Comparison& comparison, Strategy strategy, std::size_t budget) {
  std::size_t sum = 0;
  for (const ClassOutcome& outcome : comparison.runs.at(strategy).front()[budget]) sum += outcome.points;
  return sum;
}

std::string share(const Comparison& comparison, const std::vector<double>& plan, const std::vector<double>& other,
                  std::size_t budget) {
  const double seconds = seconds_to_reach(comparison.budgets, plan, other[budget]);
  if (seconds == 0.0) return fmt::format("< {:.2f}", comparison.budgets.front() / comparison.budgets[budget]);
  return std::isinf(seconds) ? "> 1" : fmt::format("{:.2f}", seconds / comparison.budgets[budget]);
}

}  // namespace

double seconds_to_reach(const std::vector<double>& budgets, const std::vector<double>& errors, double error) {
  if (errors.front() < error) return 0.0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (errors[i] > error) continue;
    if (i == 0) return budgets.front();
    const double part = std::log(errors[i - 1] / error) / std::log(errors[i - 1] / errors[i]);
    return budgets[i - 1] * std::pow(budgets[i] / budgets[i - 1], part);
  }
  return std::numeric_limits<double>::infinity();
}

std::string markdown(const Comparison& comparison, const MeasurementCost& cost, const std::string& command) {
  const ClassKey& first = comparison.keys.front();
  std::string text = fmt::format("## {} {}: {} classes\n\nMade by `{}`; {} seed(s).\n\n", first.gpu, first.framework,
                                 comparison.keys.size(), command, comparison.seeds);
  text += fmt::format(
      "A sample costs max({:g} ms, {:g} calls) of warm-up and {:g} repeats of at least {:g} ms. Error: MAPE in per "
      "cent "
      "on the held-out fifth, mean over the classes. In brackets: shapes measured. The last columns: the plan's GPU "
      "seconds for the error that the other reaches, over the other's.\n\n",
      1e3 * cost.warm_up.value(), cost.warm_up_calls, cost.samples, 1e3 * cost.sample.value());
  text += "| GPU seconds |";
  for (const Strategy strategy : kStrategies) text += fmt::format(" {} |", to_string(strategy));
  text += " over the whole table's | of random's | of random's, equal shares | of space-filling's |\n|---|";
  for (std::size_t i = 0; i < std::size(kStrategies) + 4; ++i) text += "---|";
  text += "\n";
  std::map<Strategy, std::vector<double>> curves;
  for (const Strategy strategy : kStrategies) curves[strategy] = curve(comparison, strategy, any);
  const double whole = mean(comparison, comparison.whole, any);
  const auto& plan = curves[Strategy::plan];
  for (std::size_t i = 0; i < comparison.budgets.size(); ++i) {
    text += fmt::format("| {:g} |", comparison.budgets[i]);
    for (const Strategy strategy : kStrategies) {
      text += strategy == Strategy::plan
                  ? fmt::format(" **{:.2f}** ({}) |", 100 * plan[i], points(comparison, strategy, i))
                  : fmt::format(" {:.2f} ({}) |", 100 * curves[strategy][i], points(comparison, strategy, i));
    }
    text +=
        fmt::format(" {:.2f} | {} | {} | {} |\n", plan[i] / whole, share(comparison, plan, curves[Strategy::random], i),
                    share(comparison, plan, curves[Strategy::random_equal], i),
                    share(comparison, plan, curves[Strategy::spread_equal], i));
  }
  double all_seconds = 0.0;
  for (const ClassOutcome& outcome : comparison.whole) all_seconds += outcome.seconds;
  const auto all_points = std::accumulate(comparison.pools.begin(), comparison.pools.end(), std::size_t{0});
  text += fmt::format("\nThe whole tables: {:.2f} % from {} shapes and {:.0f} GPU seconds.\n\n", 100 * whole,
                      all_points, all_seconds);

  const std::size_t last = comparison.budgets.size() - 1;
  text += fmt::format("By operator, at {:g} s:\n\n| operator | classes | plan | of its seconds |",
                      comparison.budgets[last]);
  for (const Strategy strategy : kStrategies) {
    if (strategy != Strategy::plan) text += fmt::format(" {} |", to_string(strategy));
  }
  text += " whole tables | plan over whole |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const Operator* op : all_operators()) {
    const auto own = [op](const ClassKey& key) { return key.op == op->name(); };
    double count = 0.0;
    double seconds = 0.0;
    for (std::size_t i = 0; i < comparison.keys.size(); ++i) {
      if (!own(comparison.keys[i])) continue;
      count += 1.0;
      seconds += comparison.runs.at(Strategy::plan).front()[last][i].seconds;
    }
    if (count == 0.0) continue;
    const double planned = curve(comparison, Strategy::plan, own)[last];
    const double all = mean(comparison, comparison.whole, own);
    text += fmt::format("| {} | {:g} | **{:.2f}** | {:.0f} |", op->name(), count, 100 * planned, seconds);
    for (const Strategy strategy : kStrategies) {
      if (strategy != Strategy::plan) text += fmt::format(" {:.2f} |", 100 * curve(comparison, strategy, own)[last]);
    }
    text += fmt::format(" {:.2f} | {:.2f} |\n", 100 * all, planned / all);
  }
  return text + "\n";
}

}  // namespace roofcal::plan_replay
