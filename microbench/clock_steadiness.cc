#include "microbench/clock_steadiness.h"

#include <cmath>
#include <numeric>

namespace roofcal::microbench {

std::string_view to_string(Steadiness steadiness) {
  switch (steadiness) {
    case Steadiness::warming:
      return "warming";
    case Steadiness::steady:
      return "steady";
    case Steadiness::never:
      break;
  }
  return "never";
}

Steadiness ClockSteadiness::add(std::optional<Hertz> clock, Seconds elapsed) {
  if (state_ != Steadiness::warming) return state_;
  if (clock && std::isfinite(clock->value()) && clock->value() > 0.0) readings_.push_back(clock->value());
  if (readings_.size() >= 2 * limits_.window) {
    const auto window = static_cast<std::ptrdiff_t>(limits_.window);
    const double last = std::accumulate(readings_.end() - window, readings_.end(), 0.0);
    const double before = std::accumulate(readings_.end() - 2 * window, readings_.end() - window, 0.0);
    if (std::abs(last - before) <= limits_.tolerance * before) return state_ = Steadiness::steady;
  }
  if (elapsed >= limits_.time_limit) state_ = Steadiness::never;
  return state_;
}

}  // namespace roofcal::microbench
