// When a measurement has enough samples.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/units.h"

namespace roofcal::microbench {

struct StoppingLimits {
  double relative_error = 0.005;  ///< of the mean: enough when the standard error is below
  std::size_t min_samples = 10;
  std::size_t max_samples = 1000;
  Seconds time_limit{0.5};  ///< since the first sample began
};

/// Which rule ended a measurement; stored with it.
enum class StopReason { precise, time_limit, sample_limit };
[[nodiscard]] std::string_view to_string(StopReason reason);

/// Fed with the samples in the order in which they were taken. The mean and its standard error are updated by Welford's
/// method (Technometrics 4(3), 1962), so that long samples lose no digits.
class StoppingRule {
 public:
  explicit StoppingRule(const StoppingLimits& limits) : limits_(limits) {}

  /// `elapsed`: since the measurement began, this sample included. The reason to stop, or nullopt to go on. The time
  /// limit holds from the first sample on: a kernel that runs for seconds is not run ten times.
  [[nodiscard]] std::optional<StopReason> add(Seconds sample, Seconds elapsed);

  /// Standard error over mean; nullopt before the second sample.
  [[nodiscard]] std::optional<double> relative_error() const;

 private:
  StoppingLimits limits_;
  std::size_t n_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;
};

}  // namespace roofcal::microbench
