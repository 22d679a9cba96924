#include "microbench/stopping.h"

#include <cmath>

namespace roofcal::microbench {

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::precise:
      return "precise";
    case StopReason::time_limit:
      return "time_limit";
    case StopReason::sample_limit:
      break;
  }
  return "sample_limit";
}

std::optional<StopReason> StoppingRule::add(Seconds sample, Seconds elapsed) {
  ++n_;
  const double before = sample.value() - mean_;
  mean_ += before / static_cast<double>(n_);
  squares_ += before * (sample.value() - mean_);
  const auto error = relative_error();
  if (n_ >= limits_.min_samples && error && *error < limits_.relative_error) return StopReason::precise;
  if (elapsed >= limits_.time_limit) return StopReason::time_limit;
  if (n_ >= limits_.max_samples) return StopReason::sample_limit;
  return std::nullopt;
}

std::optional<double> StoppingRule::relative_error() const {
  if (n_ < 2) return std::nullopt;
  const auto n = static_cast<double>(n_);
  return std::sqrt(squares_ / (n - 1.0) / n) / mean_;
}

}  // namespace roofcal::microbench
