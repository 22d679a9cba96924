// Error and coverage figures of predictions against measurements.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/sample.h"

namespace roofcal::accuracy {

/// One held-out shape: what was measured and what was said. Seconds; lo = hi = 0 where a method gives no interval.
struct Pair {
  Shape shape;
  double measured = 0.0, time = 0.0, lo = 0.0, hi = 0.0;
};

struct Figures {
  std::size_t n = 0;
  double mape = 0.0, median_ape = 0.0, p95_ape = 0.0;
  double coverage = 0.0;            ///< share of measured times within [lo, hi]
  double halfwidth = 0.0;           ///< mean of (hi - lo) / (2 time)
  double worst_size_quarter = 1.0;  ///< least coverage over four equal parts of the log range of the first field
  double worst_time_tenth =
      1.0;  ///< least coverage over ten equal parts of the log range of measured time with >= 20 rows
};

/// Precondition: not empty, times > 0.
[[nodiscard]] Figures figures(std::span<const Pair> pairs);

/// Mean of each figure over runs of one class (seeds).
[[nodiscard]] Figures mean(std::span<const Figures> runs);

}  // namespace roofcal::accuracy
