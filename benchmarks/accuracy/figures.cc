#include "benchmarks/accuracy/figures.h"

#include <algorithm>
#include <cmath>

namespace roofcal::accuracy {
namespace {

// A part of a range with fewer rows says nothing about its coverage.
constexpr std::size_t kRowsThatCount = 20;

double quantile(std::vector<double>& sorted, double q) {
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

bool covered(const Pair& pair) { return pair.lo <= pair.measured && pair.measured <= pair.hi; }

// Least coverage over `parts` equal parts of the range of `position`.
template <class Position>
double worst_part(std::span<const Pair> pairs, std::size_t parts, Position position) {
  double low = INFINITY;
  double high = -INFINITY;
  for (const Pair& pair : pairs) {
    low = std::min(low, position(pair));
    high = std::max(high, position(pair));
  }
  std::vector<std::size_t> rows(parts), hits(parts);
  for (const Pair& pair : pairs) {
    const double share = high > low ? (position(pair) - low) / (high - low) : 0.0;
    const auto part = std::min(parts - 1, static_cast<std::size_t>(share * static_cast<double>(parts)));
    ++rows[part];
    hits[part] += covered(pair) ? 1 : 0;
  }
  double worst = 1.0;
  for (std::size_t i = 0; i < parts; ++i) {
    if (rows[i] >= kRowsThatCount) worst = std::min(worst, static_cast<double>(hits[i]) / static_cast<double>(rows[i]));
  }
  return worst;
}

}  // namespace

Figures figures(std::span<const Pair> pairs) {
  Figures f;
  f.n = pairs.size();
  std::vector<double> errors;
  double hits = 0.0;
  for (const Pair& pair : pairs) {
    errors.push_back(std::abs(pair.time / pair.measured - 1.0));
    f.mape += errors.back();
    hits += covered(pair) ? 1.0 : 0.0;
    f.halfwidth += (pair.hi - pair.lo) / (2.0 * pair.time);
  }
  const auto n = static_cast<double>(pairs.size());
  f.mape /= n;
  f.coverage = hits / n;
  f.halfwidth /= n;
  std::ranges::sort(errors);
  f.median_ape = quantile(errors, 0.5);
  f.p95_ape = quantile(errors, 0.95);
  f.worst_size_quarter = worst_part(pairs, 4, [](const Pair& p) { return std::log(static_cast<double>(p.shape[0])); });
  f.worst_time_tenth = worst_part(pairs, 10, [](const Pair& p) { return std::log(p.measured); });
  return f;
}

Figures mean(std::span<const Figures> runs) {
  Figures m;
  m.worst_size_quarter = m.worst_time_tenth = 0.0;
  const auto n = static_cast<double>(runs.size());
  for (const Figures& f : runs) {
    m.n = f.n;
    m.mape += f.mape / n;
    m.median_ape += f.median_ape / n;
    m.p95_ape += f.p95_ape / n;
    m.coverage += f.coverage / n;
    m.halfwidth += f.halfwidth / n;
    m.worst_size_quarter += f.worst_size_quarter / n;
    m.worst_time_tenth += f.worst_time_tenth / n;
  }
  return m;
}

}  // namespace roofcal::accuracy
