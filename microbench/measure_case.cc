#include "microbench/measure_case.h"

#include <algorithm>

#include "microbench/memory_fit.h"

namespace roofcal::microbench {
namespace {

// Telemetry takes NVML tens of microseconds; readings closer together than this tell nothing new.
constexpr Seconds kTelemetryEvery{5e-3};

void note(Outcome& out, const Telemetry& seen) {
  if (seen.throttle_reasons) out.throttle_reasons = out.throttle_reasons.value_or(0) | *seen.throttle_reasons;
  out.telemetry = seen;
}

Result<void> check(Subject& subject, Device& device, Outcome& out) {
  const Seconds begin = device.now();
  auto checked = subject.check();
  if (!checked) return checked.error();
  out.check = *std::move(checked);
  out.check_took = device.now() - begin;
  if (out.check.elements > 0 && !out.check.passed()) {
    out.state = OutcomeState::wrong;
    out.reason = out.check.worst_where;
  }
  return {};
}

// Through the very path that is timed.
Result<void> warm_up(Subject& subject, Device& device, const MeasureOptions& options, Outcome& out) {
  ClockSteadiness clock(options.warm_up);
  const Seconds begin = device.now();
  while (clock.state() == Steadiness::warming) {
    const auto burst = subject.burst();
    if (!burst) return burst.error();
    clock.add(burst->sm_clock, device.now() - begin);
  }
  out.steadiness = clock.state();
  return {};
}

Result<void> take_samples(Subject& subject, Device& device, const MeasureOptions& options, Outcome& out) {
  StoppingRule rule(options.stopping);
  const Seconds begin = device.now();
  Seconds looked = begin;
  note(out, device.telemetry());
  for (;;) {
    const auto burst = subject.burst();
    if (!burst) return burst.error();
    out.raw_s.push_back(burst->per_launch.value());
    out.raw_clock_hz.push_back(burst->sm_clock ? burst->sm_clock->value() : 0.0);
    if (device.now() - looked >= kTelemetryEvery) {
      note(out, device.telemetry());
      looked = device.now();
    }
    const auto stop = rule.add(burst->per_launch, device.now() - begin);
    if (stop) {
      out.stopped = *stop;
      break;
    }
    device.wait(out.plan.pause);
  }
  note(out, device.telemetry());
  return {};
}

std::optional<Hertz> median_clock(std::vector<double> readings) {
  std::erase(readings, 0.0);
  if (readings.empty()) return std::nullopt;
  std::ranges::sort(readings);
  return Hertz(quantile(readings, 0.5));
}

}  // namespace

Result<Outcome> measure_case(Device& device, const MeasurementCase& one, const MeasureOptions& options) {
  Outcome out;
  out.measured_case = one;
  const Seconds begin = device.now();
  const auto finish = [&] {
    out.took = device.now() - begin;
    return out;
  };
  const auto skip = [&](std::string reason) {
    out.state = OutcomeState::skipped;
    out.reason = std::move(reason);
    return finish();
  };

  const Bytes footprint = footprint_of(one);
  if (footprint.value() > 0.0) out.rotation = plan_rotation(one.cache, footprint, device.facts().l2);
  const auto free = device.free_memory();
  if (!free) return free.error();
  if (const auto reason = reason_not_to_fit(one, out.rotation, *free)) return skip(*reason);

  auto prepared = device.prepare(one, {out.rotation, options.fill, options.seed});
  if (!prepared && prepared.error().code == ErrorCode::not_calibrated) return skip(prepared.error().message);
  if (!prepared) return prepared.error();
  Subject& subject = **prepared;
  out.algorithm = subject.algorithm();
  out.notes = subject.notes();

  if (const auto checked = check(subject, device, out); !checked) return checked.error();
  if (out.state == OutcomeState::wrong) return finish();

  const auto probe = subject.probe();
  if (!probe) return probe.error();
  out.plan = plan_launches(*probe, out.rotation);
  if (const auto arranged = subject.arrange(out.plan); !arranged) return arranged.error();
  if (const auto warm = warm_up(subject, device, options, out); !warm) return warm.error();
  if (const auto taken = take_samples(subject, device, options, out); !taken) return taken.error();

  auto statistics = statistics_of(out.raw_s);
  if (!statistics) return statistics.error();
  out.statistics = *statistics;
  out.sm_clock = median_clock(out.raw_clock_hz);
  out.throttled = is_throttled(out.throttle_reasons.value_or(0), options.clocks) ||
                  (options.fixed_clock && misses_fixed_clock(out.sm_clock, *options.fixed_clock));
  return finish();
}

}  // namespace roofcal::microbench
