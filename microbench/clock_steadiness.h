// Warm-up by clock: when the SM clock no longer moves in one direction.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "core/units.h"

namespace roofcal::microbench {

struct SteadinessLimits {
  std::size_t window = 4;    ///< readings that are averaged
  double tolerance = 0.005;  ///< between the means of two windows
  Seconds time_limit{0.4};
};

enum class Steadiness {
  warming,
  steady,
  never,  ///< the time limit came first: a result, kept with the sample
};
[[nodiscard]] std::string_view to_string(Steadiness steadiness);

/// Fed with clock readings (cycles over nanoseconds of the very launches that are timed later). Steady when the mean of
/// the last window lies within the tolerance of the one before: a clock that wobbles about its power limit is steady,
/// one that still climbs or sags is not.
class ClockSteadiness {
 public:
  explicit ClockSteadiness(const SteadinessLimits& limits) : limits_(limits) {}

  /// `clock` nullopt: the reading failed, which brings steadiness no nearer. Once steady or never, it stays so.
  Steadiness add(std::optional<Hertz> clock, Seconds elapsed);
  [[nodiscard]] Steadiness state() const { return state_; }

 private:
  SteadinessLimits limits_;
  std::vector<double> readings_;
  Steadiness state_ = Steadiness::warming;
};

}  // namespace roofcal::microbench
