#include "microbench/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace roofcal::microbench {
namespace {

constexpr double kMadsOfAnOutlier = 5.0;
constexpr double kSigmaOfMad = 1.4826;  // of a normal distribution
constexpr double kLeastOutlier = 0.01;  // of the median: a tight sample has no outliers within the timer's grain

}  // namespace

double quantile(std::span<const double> ascending, double p) {
  const double place = p * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return std::lerp(ascending[below], ascending[above], place - static_cast<double>(below));
}

Result<Statistics> statistics_of(std::span<const double> seconds) {
  if (seconds.empty()) return Error{ErrorCode::bad_data, "no sample was taken, so there is no time"};
  for (const double time : seconds) {
    if (!(time > 0.0) || !std::isfinite(time)) {
      return Error{ErrorCode::bad_data, fmt::format("a timer gave {} s, which is no duration", time)};
    }
  }
  std::vector<double> sorted(seconds.begin(), seconds.end());
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  Statistics out;
  out.n = sorted.size();
  const double median = quantile(sorted, 0.5);
  out.median = Seconds(median);
  out.p10 = Seconds(quantile(sorted, 0.1));
  out.p90 = Seconds(quantile(sorted, 0.9));
  double sum = 0.0;
  for (const double time : sorted) sum += time;
  const double mean = sum / n;
  out.mean = Seconds(mean);
  if (sorted.size() > 1) {
    double squares = 0.0;
    for (const double time : sorted) squares += (time - mean) * (time - mean);
    out.relative_error = std::sqrt(squares / (n - 1.0) / n) / mean;
  }
  std::vector<double> deviations;
  for (const double time : sorted) deviations.push_back(std::abs(time - median));
  std::ranges::sort(deviations);
  const double mad = quantile(deviations, 0.5);
  out.mad = Seconds(mad);
  const double limit = std::max(kMadsOfAnOutlier * kSigmaOfMad * mad, kLeastOutlier * median);
  out.outliers = static_cast<std::size_t>(std::ranges::count_if(deviations, [&](double d) { return d > limit; }));
  return out;
}

}  // namespace roofcal::microbench
