// The seam between what decides (host code, tested without a GPU) and what touches a GPU.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "core/units.h"
#include "microbench/cache_rotation.h"
#include "microbench/gpu_facts.h"
#include "microbench/launch_plan.h"
#include "microbench/measurement_case.h"
#include "microbench/random_data.h"
#include "microbench/references.h"

namespace roofcal::microbench {

/// One sample: the launches of one burst between two device events.
struct Burst {
  Seconds per_launch{};
  std::optional<Hertz> sm_clock;  ///< cycles over nanoseconds, read on the device just before and after the burst
};

/// What NVML says at a moment; empty where it says nothing.
struct Telemetry {
  std::optional<std::uint64_t> throttle_reasons;
  std::optional<Hertz> sm_clock;
  std::optional<Watts> power;
  std::optional<Watts> power_limit;
  std::optional<double> temperature_c;
};

/// A case made ready on a device: operands allocated and filled, the library asked for its algorithm.
class Subject {
 public:
  virtual ~Subject() = default;

  /// The result of one call on fresh random input against the float64 reference. Zero elements: there is nothing to
  /// check (a launch).
  [[nodiscard]] virtual Result<Check> check() = 0;
  /// One launch in the stream, timed: what the launch plan is made from.
  [[nodiscard]] virtual Result<Seconds> probe() = 0;
  /// Makes bursts of this plan: captures the graph, say.
  [[nodiscard]] virtual Result<void> arrange(const LaunchPlan& plan) = 0;
  /// Runs one burst; warm-up uses it too. Does not pause.
  [[nodiscard]] virtual Result<Burst> burst() = 0;
  /// What the library chose: "id=66 tile=18 stages=36 splitk=1 ..."; empty where there is no choice.
  [[nodiscard]] virtual std::string algorithm() const { return {}; }
  /// Further words for the sample: layout, output format, scales.
  [[nodiscard]] virtual std::map<std::string, std::string> notes() const { return {}; }
};

struct PrepareOptions {
  CacheRotation rotation;
  DataFill fill = DataFill::random;
  std::uint64_t seed = 1;
};

class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual const GpuFacts& facts() const = 0;
  [[nodiscard]] virtual Result<Bytes> free_memory() = 0;
  [[nodiscard]] virtual Telemetry telemetry() = 0;
  /// Errors: `not_calibrated` where the GPU or its libraries have no kernel for the case (it is skipped with the
  /// message); any other ends the run.
  [[nodiscard]] virtual Result<std::unique_ptr<Subject>> prepare(const MeasurementCase& one,
                                                                 const PrepareOptions& options) = 0;
  /// Asks the library which algorithm it would take, timing nothing. Errors: as prepare.
  [[nodiscard]] virtual Result<std::string> choice(const MeasurementCase& one) = 0;

  /// Since some moment that stays the same; and waiting. A simulated device has a clock of its own.
  [[nodiscard]] virtual Seconds now() = 0;
  virtual void wait(Seconds time) = 0;
};

}  // namespace roofcal::microbench
