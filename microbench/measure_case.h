// One case from allocation to the last sample: check, probe, warm up by clock, sample until the rule says stop.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "microbench/clock_steadiness.h"
#include "microbench/device.h"
#include "microbench/statistics.h"
#include "microbench/stopping.h"
#include "microbench/throttle.h"

namespace roofcal::microbench {

struct MeasureOptions {
  StoppingLimits stopping;
  SteadinessLimits warm_up;
  ClockMode clocks = ClockMode::as_shipped;
  std::optional<Hertz> fixed_clock;  ///< what the operator set, in fixed_clock mode
  DataFill fill = DataFill::random;
  std::uint64_t seed = 1;
};

enum class OutcomeState {
  measured,
  wrong,    ///< the result was wrong: stored as failed, never timed
  skipped,  ///< does not fit in memory, or there is no kernel for it
};

struct Outcome {
  MeasurementCase measured_case;
  OutcomeState state = OutcomeState::measured;
  std::string reason;  ///< why skipped, or what was wrong
  Check check;
  Seconds check_took{};

  // Only where measured:
  Statistics statistics;
  std::vector<double> raw_s;
  std::vector<double> raw_clock_hz;               ///< of each sample; NaN-free: 0 where the reading failed
  std::optional<Hertz> sm_clock;                  ///< median of the readings
  std::optional<std::uint64_t> throttle_reasons;  ///< of all samples together
  bool throttled = false;
  Steadiness steadiness = Steadiness::warming;
  StopReason stopped = StopReason::precise;
  CacheRotation rotation;
  LaunchPlan plan;
  Telemetry telemetry;  ///< after the last sample
  std::string algorithm;
  std::map<std::string, std::string> notes;
  Seconds took{};  ///< the whole case
};

/// Errors: the device failed (a CUDA call), after which nothing more can be measured on it.
[[nodiscard]] Result<Outcome> measure_case(Device& device, const MeasurementCase& one, const MeasureOptions& options);

}  // namespace roofcal::microbench
