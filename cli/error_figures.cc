#include "cli/error_figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace roofcal::cli {
namespace {

// Precondition: `sorted` ascending, not empty.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

}  // namespace

void ErrorFigures::add(const Answer& answer, Seconds measured) {
  errors_.push_back(answer.time / measured - 1.0);
  covered_ += measured >= answer.lo && measured <= answer.hi ? 1 : 0;
  halfwidths_ += (answer.hi - answer.lo) / (2.0 * answer.time);
  ++provenance_[static_cast<std::size_t>(answer.provenance)];
}

void ErrorFigures::add(const ErrorFigures& other) {
  errors_.insert(errors_.end(), other.errors_.begin(), other.errors_.end());
  covered_ += other.covered_;
  halfwidths_ += other.halfwidths_;
  for (std::size_t i = 0; i < provenance_.size(); ++i) provenance_[i] += other.provenance_[i];
  unanswered_ += other.unanswered_;
}

std::vector<report::Column> ErrorFigures::columns() {
  using report::Unit;
  return {{"n", "rows"},
          {"mape", "MAPE", Unit::fraction},
          {"median_ape", "median", Unit::fraction},
          {"p90_ape", "p90", Unit::fraction},
          {"p95_ape", "p95", Unit::fraction},
          {"max_ape", "max", Unit::fraction},
          {"bias", "bias", Unit::fraction},
          {"coverage90", "coverage", Unit::fraction},
          {"halfwidth90", "half-width", Unit::fraction},
          {"provenance", "provenance"},
          {"unanswered", "unanswered"}};
}

report::Record ErrorFigures::record() const {
  report::Object counts;
  for (int i = 0; i < kProvenanceCount; ++i) {
    const std::int64_t count = provenance_[static_cast<std::size_t>(i)];
    if (count == 0) continue;
    const std::string name(to_string(static_cast<Provenance>(i)));
    counts.columns.push_back({name, name});
    counts.values.emplace_back(count);
  }
  const auto provenance = std::make_shared<const report::Object>(std::move(counts));
  if (errors_.empty()) return {std::int64_t{0}, {}, {}, {}, {}, {}, {}, {}, {}, provenance, unanswered_};

  const auto n = static_cast<double>(errors_.size());
  std::vector<double> sizes(errors_.size());
  std::ranges::transform(errors_, sizes.begin(), [](double error) { return std::abs(error); });
  std::ranges::sort(sizes);
  return {answered(),
          std::accumulate(sizes.begin(), sizes.end(), 0.0) / n,
          quantile(sizes, 0.5),
          quantile(sizes, 0.9),
          quantile(sizes, 0.95),
          sizes.back(),
          std::accumulate(errors_.begin(), errors_.end(), 0.0) / n,
          static_cast<double>(covered_) / n,
          halfwidths_ / n,
          provenance,
          unanswered_};
}

}  // namespace roofcal::cli
