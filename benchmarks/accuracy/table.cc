#include "benchmarks/accuracy/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace roofcal::accuracy {
namespace {

constexpr const char* kIntroduction = R"(# Accuracy on shapes that no fit has seen

Made in one run by `{}`; the data are described in [data.md](data.md).
A fifth of each class's shapes is held out by a hash of the sizes; a class is one kernel of one framework version, number
format and GPU. `points`: shapes that a fit was given, chosen from the rest by their sizes alone; `built-in`: the compact
form in which the shipped calibrations are stored, here fitted without the held-out fifth. Errors in per cent of the
measured time: MAPE, median (p50) and 95th percentile (p95), mean over {} seed(s) where points are chosen.
Coverage: share of measured times within the 90 % interval; least over four equal parts of the log range of the first size,
and over ten of the log range of time (parts with 20 rows or more). Half-width: of the interval, over the time.
The baselines get as many points: linear interpolation on a regular sub-grid (as lookup tables do), the five nearest
points, one efficiency on the roofline; and the roofline itself, which needs none.

## Summary

)";

std::string percent(double fraction) { return fmt::format("{:.1f}", 100.0 * fraction); }

std::string attributes_of(const ClassKey& key) {
  std::string out;
  for (const auto& [name, value] : key.attributes) {
    out += (out.empty() ? "" : " ") + (name == "dtype" ? value : name + "=" + value);
  }
  return out;
}

std::string row(const Outcome& o) {
  return fmt::format("| {} | {} | {} {} | {} | {} | {} | **{}** | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                     o.key.gpu, attributes_of(o.key), o.key.framework, o.key.version, o.key.kernel, o.setting, o.points,
                     percent(o.roofcal.mape), percent(o.roofcal.median_ape), percent(o.roofcal.p95_ape),
                     percent(o.roofcal.coverage), percent(o.roofcal.worst_size_quarter),
                     percent(o.roofcal.worst_time_tenth), percent(o.roofcal.halfwidth), percent(o.grid.mape),
                     percent(o.neighbours.mape), percent(o.constant.mape), percent(o.roofline.mape));
}

std::string summary(std::span<const Outcome> outcomes) {
  struct Mean {
    double n = 0, mape = 0, coverage = 0, low = 1, high = 0, grid = 0, neighbours = 0, constant = 0, roofline = 0,
           seconds = 0;
  };
  std::map<std::pair<std::string, std::string>, Mean> means;  // (operator, setting)
  for (const Outcome& o : outcomes) {
    Mean& m = means[{o.key.op, o.setting}];
    m.n += 1;
    m.mape += o.roofcal.mape;
    m.coverage += o.roofcal.coverage;
    m.low = std::min(m.low, o.roofcal.coverage);
    m.high = std::max(m.high, o.roofcal.coverage);
    m.grid += o.grid.mape;
    m.neighbours += o.neighbours.mape;
    m.constant += o.constant.mape;
    m.roofline += o.roofline.mape;
    m.seconds = std::max(m.seconds, o.fit_seconds);
  }
  std::string out =
      "| operator | points | classes | roofcal MAPE | coverage, mean | least, most of a class | grid | 5 nearest | one "
      "efficiency | "
      "roofline | longest fit, s |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, m] : means) {
    out += fmt::format("| {} | {} | {:.0f} | **{}** | {} | {}, {} | {} | {} | {} | {} | {:.1f} |\n", name.first,
                       name.second, m.n, percent(m.mape / m.n), percent(m.coverage / m.n), percent(m.low),
                       percent(m.high), percent(m.grid / m.n), percent(m.neighbours / m.n), percent(m.constant / m.n),
                       percent(m.roofline / m.n), m.seconds);
  }
  return out;
}

}  // namespace

std::string markdown(std::span<const Outcome> outcomes, const std::string& command, std::uint64_t seeds) {
  std::string out = fmt::format(kIntroduction, command, seeds);
  out += summary(outcomes);
  std::vector<std::string> operators;
  for (const Outcome& o : outcomes) {
    if (std::ranges::find(operators, o.key.op) == operators.end()) operators.push_back(o.key.op);
  }
  for (const std::string& op : operators) {
    out += fmt::format("\n## {}\n\n", op);
    out +=
        "| GPU | class | framework | kernel | setting | points | MAPE | p50 | p95 | coverage | least, size | least, "
        "time | half-width | "
        "grid | 5 nearest | one efficiency | roofline "
        "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (const Outcome& o : outcomes) {
      if (o.key.op == op) out += row(o);
    }
  }
  return out;
}

}  // namespace roofcal::accuracy
