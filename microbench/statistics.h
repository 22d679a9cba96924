// What a set of timings says: the figures that are stored beside the raw values.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/result.h"
#include "core/units.h"

namespace roofcal::microbench {

struct Statistics {
  std::size_t n = 0;
  Seconds median{};
  Seconds mean{};
  Seconds p10{};
  Seconds p90{};
  /// Median absolute deviation from the median, unscaled.
  Seconds mad{};
  /// Standard error of the mean over the mean; nullopt for a single sample, whose spread nobody knows.
  std::optional<double> relative_error;
  /// Samples further from the median than 5 scaled MADs (1.4826 MAD estimates a standard deviation) and than 1 % of it.
  std::size_t outliers = 0;
};

/// The p-th quantile (0 <= p <= 1) of sorted values, interpolated linearly between order statistics (type 7 of Hyndman
/// and Fan, The American Statistician 50(4), 1996). Domain: at least one value, ascending.
[[nodiscard]] double quantile(std::span<const double> ascending, double p);

/// Domain: times in seconds. Errors: no sample at all; a time that is not positive and finite.
[[nodiscard]] Result<Statistics> statistics_of(std::span<const double> seconds);

}  // namespace roofcal::microbench
