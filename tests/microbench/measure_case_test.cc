// One case on a simulated GPU: what is stored, and what is not.
#include "microbench/measure_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "microbench/ceilings.h"
#include "microbench/memory_kernels.h"
#include "microbench/recorder.h"
#include "microbench/suites.h"
#include "tests/microbench/simulated_device.h"

namespace roofcal::microbench {
namespace {

MeasurementCase some_gemm() {
  MeasurementCase one = sentinel_case();
  one.kind = std::string(kOperatorSample);
  return one;
}

RecordContext context() {
  RecordContext out;
  out.gpu = "h200_sxm";
  out.version = "13.1.0";
  out.roofcal = "0.1.0";
  out.device = simulated_facts().uuid;
  out.measured_utc = "2026-12-07T12:00:00Z";
  return out;
}

TEST(MeasureCase, a_quiet_kernel_is_checked_warmed_and_sampled) {
  SimulatedDevice device;
  const auto outcome = measure_case(device, some_gemm(), {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->state, OutcomeState::measured);
  EXPECT_TRUE(outcome->check.passed());
  EXPECT_EQ(outcome->steadiness, Steadiness::steady);
  EXPECT_EQ(outcome->stopped, StopReason::precise);
  EXPECT_EQ(outcome->statistics.n, 10u);
  EXPECT_EQ(outcome->raw_s.size(), 10u);
  EXPECT_GT(device.bursts, 10);  // warm-up bursts are not samples
  EXPECT_EQ(device.paused, 9);   // between samples
  EXPECT_NEAR(outcome->sm_clock->value(), 1.9e9, 1.0);
  EXPECT_FALSE(outcome->throttled);
  EXPECT_GT(outcome->took.value(), 0.0);
}

TEST(MeasureCase, a_wrong_result_is_never_timed_and_stored_as_failed) {
  SimulatedDevice device;
  device.wrong.insert(case_id(some_gemm()));
  const auto outcome = measure_case(device, some_gemm(), {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->state, OutcomeState::wrong);
  EXPECT_EQ(device.bursts, 0);
  const auto samples = samples_of(*outcome, context());
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].kind, kCheckKind);
  EXPECT_EQ(samples[0].flags, "failed");
  EXPECT_NE(samples[0].extra.at("wrong").find("2 instead of 1"), std::string::npos);
}

TEST(MeasureCase, what_does_not_fit_is_skipped_with_a_reason_before_it_is_allocated) {
  SimulatedDevice device;
  device.free = Bytes(50e6);
  const auto outcome = measure_case(device, some_gemm(), {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->state, OutcomeState::skipped);
  EXPECT_NE(outcome->reason.find("are free"), std::string::npos);
  EXPECT_TRUE(device.prepared.empty());
  EXPECT_TRUE(samples_of(*outcome, context()).empty());
}

TEST(MeasureCase, what_has_no_kernel_is_skipped) {
  SimulatedDevice device;
  device.unsupported.insert(case_id(some_gemm()));
  const auto outcome = measure_case(device, some_gemm(), {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->state, OutcomeState::skipped);
  EXPECT_NE(outcome->reason.find("no kernel"), std::string::npos);
}

TEST(MeasureCase, a_cuda_error_ends_it) {
  SimulatedDevice device;
  device.fail_after_bursts = 5;
  const auto outcome = measure_case(device, some_gemm(), {});
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().message.find("cudaEventSynchronize"), std::string::npos);
}

TEST(MeasureCase, throttled_samples_are_kept_and_flagged) {
  SimulatedDevice device;
  device.reasons = hardware_thermal | software_power_cap;
  const auto outcome = measure_case(device, some_gemm(), {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->throttled);
  const auto sample = samples_of(*outcome, context()).back();
  EXPECT_EQ(sample.flags, "throttled,power_capped");
  EXPECT_EQ(sample.extra.at("throttle_reasons"), "sw_power_cap+hw_thermal");
}

TEST(MeasureCase, as_shipped_runs_at_the_power_cap_unflagged_as_throttled) {
  SimulatedDevice device;
  device.reasons = software_power_cap;
  EXPECT_FALSE(measure_case(device, some_gemm(), {})->throttled);
  MeasureOptions fixed;
  fixed.clocks = ClockMode::fixed_clock;
  fixed.fixed_clock = Hertz(1.9e9);
  EXPECT_TRUE(measure_case(device, some_gemm(), fixed)->throttled);
  device.reasons = 0;
  EXPECT_FALSE(measure_case(device, some_gemm(), fixed)->throttled);
  fixed.fixed_clock = Hertz(1.98e9);  // set, not reached
  EXPECT_TRUE(measure_case(device, some_gemm(), fixed)->throttled);
}

TEST(MeasureCase, a_clock_that_never_settles_is_a_flag_not_a_hang) {
  SimulatedDevice device;
  device.clock = [](int burst) { return std::optional(Hertz(1e9 * std::pow(1.01, burst % 400))); };
  const auto outcome = measure_case(device, some_gemm(), {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->steadiness, Steadiness::never);
  EXPECT_NE(samples_of(*outcome, context()).back().flags.find("unsteady_clock"), std::string::npos);
}

TEST(MeasureCase, the_time_limit_is_named_in_the_sample) {
  SimulatedDevice device;
  device.time_factor = [](int burst) { return burst % 2 == 0 ? 0.2 : 1.8; };
  MeasureOptions options;
  options.stopping.time_limit = Seconds(0.05);
  const auto outcome = measure_case(device, some_gemm(), options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->stopped, StopReason::time_limit);
  const auto sample = samples_of(*outcome, context()).back();
  EXPECT_EQ(sample.extra.at("stopped_by"), "time_limit");
  EXPECT_NE(sample.flags.find("imprecise"), std::string::npos);
}

TEST(Recorder, a_sample_carries_what_was_seen) {
  SimulatedDevice device;
  device.time_factor = [](int burst) { return 1.0 + 0.001 * (burst % 5); };
  const auto outcome = measure_case(device, some_gemm(), {});
  const auto samples = samples_of(*outcome, context());
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].kind, kCheckKind);
  EXPECT_TRUE(samples[0].flags.empty());
  const StoredSample& sample = samples[1];
  EXPECT_EQ(sample.kind, kOperatorSample);
  EXPECT_EQ(sample.key.framework, "cublaslt");
  EXPECT_EQ(sample.key.version, "13.1.0");
  EXPECT_EQ(sample.key.kernel, "heuristic");
  EXPECT_EQ(sample.shape, (Shape{4096, 4096, 4096}));
  EXPECT_EQ(sample.time.value(), outcome->statistics.median.value());
  EXPECT_EQ(sample.count, 10);
  EXPECT_LT(*sample.p10_s, *sample.p90_s);
  EXPECT_EQ(sample.raw_s.size(), 10u);
  EXPECT_EQ(sample.algorithm, "id=66 tile=18 splitk=1");
  EXPECT_EQ(sample.layout, "TN");
  EXPECT_EQ(sample.launch_mode, "stream");
  EXPECT_EQ(sample.data_fill, "random");
  EXPECT_EQ(sample.power_w, 600.0);
  EXPECT_EQ(sample.power_limit_w, 700.0);
  EXPECT_NEAR(*sample.sm_clock_hz, 1.9e9, 1.0);
  EXPECT_EQ(sample.device, simulated_facts().uuid);
  EXPECT_EQ(sample.extra.at("clock_mode"), "as_shipped");
  EXPECT_EQ(sample.extra.at("warm_up"), "steady");
  EXPECT_EQ(sample.extra.at("stopped_by"), "precise");
  EXPECT_EQ(sample.extra.at("cache_by"), "same_buffers");
  EXPECT_EQ(sample.metrics.at("temperature_c"), 55.0);
  EXPECT_NEAR(sample.metrics.at("flops_per_s"), 2.0 * std::pow(4096.0, 3) / sample.time.value(), 1.0);
}

TEST(Recorder, drift_and_zeros_are_flags) {
  SimulatedDevice device;
  const auto outcome = measure_case(device, some_gemm(), {});
  RecordContext drifted = context();
  drifted.drifted = true;
  drifted.fill = DataFill::zeros;
  const auto sample = samples_of(*outcome, drifted).back();
  EXPECT_EQ(sample.flags, "drifted,zeros");
  EXPECT_EQ(sample.data_fill, "zeros");
}

TEST(Recorder, memory_kernels_are_filed_under_their_name_with_their_sizes) {
  SimulatedDevice device;
  const auto one = memory_case("rms_norm", {{"rows", 16}, {"hidden", 8192}}, CacheMode::cold).value();
  const auto outcome = measure_case(device, one, {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  const auto sample = samples_of(*outcome, context()).back();
  EXPECT_EQ(sample.key.op, "memory");
  EXPECT_EQ(sample.key.kernel, "rms_norm");
  EXPECT_EQ(sample.key.framework, "roofcal");
  EXPECT_EQ(sample.key.cache, CacheMode::cold);
  EXPECT_EQ(sample.extra.at("hidden"), "8192");
  EXPECT_EQ(sample.extra.at("cache_by"), "flush_between_bursts");
  EXPECT_EQ(sample.launch_mode, "graph");
}

TEST(Ceilings, the_best_rate_of_each_kind_beside_the_datasheets) {
  SimulatedDevice device;
  const GpuSpec spec = simulated_spec();
  CeilingFinder finder(spec, simulated_facts().l2);
  for (const auto& one : ceiling_cases(simulated_facts())) {
    const auto outcome = measure_case(device, one, {});
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    finder.add(*outcome);
  }
  const auto found = finder.ceilings();
  const auto of = [&](std::string_view what) { return *std::ranges::find(found, what, &CeilingFinder::Ceiling::what); };
  const auto bf16 = of("gemm bfloat16");
  EXPECT_NEAR(bf16.rate, 0.6 * 989e12, 1e10);  // what the simulated GPU reaches
  EXPECT_EQ(bf16.datasheet, 989e12);
  EXPECT_EQ(bf16.among, 5u);
  const auto copy = of("memory copy");
  EXPECT_NEAR(copy.rate, 0.6 * 4.8e12, 0.05 * 4.8e12);
  const StoredSample sample = ceiling_sample(bf16, key_of(bf16.best, context()), "GPU-1", "2026-12-07T12:00:00Z");
  EXPECT_EQ(sample.kind, kCeilingKind);
  EXPECT_NEAR(sample.metrics.at("of_datasheet"), 0.6, 1e-6);
}

TEST(Ceilings, throttled_and_cached_outcomes_do_not_count) {
  SimulatedDevice device;
  CeilingFinder finder(simulated_spec(), simulated_facts().l2);
  device.reasons = hardware_thermal;
  finder.add(*measure_case(device, some_gemm(), {}));
  device.reasons = 0;
  finder.add(*measure_case(device, memory_case("copy", {{"bytes", 1 << 20}}, CacheMode::hot).value(), {}));
  EXPECT_TRUE(finder.ceilings().empty());
}

}  // namespace
}  // namespace roofcal::microbench
