// Clock, throttling, drift, cache and launches: the conditions under which samples are taken.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "microbench/cache_rotation.h"
#include "microbench/clock_steadiness.h"
#include "microbench/drift.h"
#include "microbench/launch_plan.h"
#include "microbench/throttle.h"

namespace roofcal::microbench {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

TEST(ClockSteadiness, a_climbing_clock_is_not_steady_until_it_levels) {
  ClockSteadiness clock({});
  double t = 0.0;
  for (double hz = 1.0e9; hz < 1.9e9; hz += 0.05e9) {
    EXPECT_EQ(clock.add(Hertz(hz), Seconds(t += 1e-3)), Steadiness::warming) << hz;
  }
  int readings = 0;
  while (clock.add(Hertz(1.9e9), Seconds(t += 1e-3)) == Steadiness::warming) ASSERT_LT(++readings, 20);
  EXPECT_EQ(clock.state(), Steadiness::steady);
}

TEST(ClockSteadiness, wobbling_about_a_power_limit_is_steady) {
  ClockSteadiness clock({});
  for (int i = 0; i < 8; ++i) clock.add(Hertz(i % 2 == 0 ? 1.40e9 : 1.44e9), Seconds(1e-3 * i));
  EXPECT_EQ(clock.state(), Steadiness::steady);
}

TEST(ClockSteadiness, never_is_a_result_and_stays) {
  ClockSteadiness clock({});
  double hz = 1.0e9;
  double t = 0.0;
  while (clock.state() == Steadiness::warming) clock.add(Hertz(hz *= 1.02), Seconds(t += 10e-3));
  EXPECT_EQ(clock.state(), Steadiness::never);
  EXPECT_LE(t, 0.4 + 10e-3);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(clock.add(Hertz(hz), Seconds(t += 1e-3)), Steadiness::never);
}

TEST(ClockSteadiness, a_clock_that_cannot_be_read_never_gets_steady) {
  ClockSteadiness clock({});
  for (double t = 0.0; t < 0.39; t += 0.01) {
    EXPECT_EQ(clock.add(std::nullopt, Seconds(t)), Steadiness::warming);
    EXPECT_EQ(clock.add(Hertz(std::numeric_limits<double>::quiet_NaN()), Seconds(t)), Steadiness::warming);
  }
  EXPECT_EQ(clock.add(std::nullopt, Seconds(0.41)), Steadiness::never);
}

TEST(Throttle, reasons_by_name) {
  EXPECT_EQ(describe_reasons(0), "none");
  EXPECT_EQ(describe_reasons(software_power_cap | hardware_thermal), "sw_power_cap+hw_thermal");
  EXPECT_EQ(describe_reasons(gpu_idle | 0x4000), "gpu_idle+0x4000");
}

TEST(Throttle, the_power_cap_is_part_of_as_shipped_and_spoils_a_fixed_clock) {
  EXPECT_FALSE(is_throttled(software_power_cap, ClockMode::as_shipped));
  EXPECT_TRUE(is_throttled(software_power_cap, ClockMode::fixed_clock));
  EXPECT_FALSE(is_throttled(gpu_idle | application_clocks, ClockMode::fixed_clock));
  for (const auto reason : {hardware_slowdown, software_thermal, hardware_thermal, hardware_power_brake}) {
    EXPECT_TRUE(is_throttled(reason, ClockMode::as_shipped)) << describe_reasons(reason);
    EXPECT_TRUE(is_throttled(reason | software_power_cap, ClockMode::fixed_clock));
  }
}

TEST(Throttle, a_fixed_clock_has_to_be_reached) {
  EXPECT_FALSE(misses_fixed_clock(Hertz(1.49e9), Hertz(1.5e9)));
  EXPECT_TRUE(misses_fixed_clock(Hertz(1.45e9), Hertz(1.5e9)));
  EXPECT_FALSE(misses_fixed_clock(std::nullopt, Hertz(1.5e9)));
}

TEST(Drift, shows_against_the_first_sentinel_and_ends_when_it_is_back) {
  SentinelTrack track;
  EXPECT_FALSE(track.worst().has_value());
  EXPECT_DOUBLE_EQ(track.add(Seconds(1e-3)), 1.0);
  EXPECT_FALSE(track.drifted());
  EXPECT_FALSE(track.worst().has_value());
  EXPECT_NEAR(track.add(Seconds(1.01e-3)), 1.01, 1e-12);
  EXPECT_FALSE(track.drifted());
  track.add(Seconds(1.15e-3));  // clocks that sag after seconds: 15 % slower
  EXPECT_TRUE(track.drifted());
  track.add(Seconds(1.005e-3));
  EXPECT_FALSE(track.drifted());
  EXPECT_NEAR(track.worst().value(), 0.15, 1e-12);
  track.add(Seconds(0.9e-3));  // faster is drift too
  EXPECT_TRUE(track.drifted());
}

TEST(CacheRotation, hot_is_one_set) {
  const auto rotation = plan_rotation(CacheMode::hot, Bytes(kMiB), Bytes(50 * kMiB));
  EXPECT_EQ(rotation.sets, 1u);
  EXPECT_FALSE(rotation.flush);
  EXPECT_EQ(rotation.how(), "same_buffers");
}

TEST(CacheRotation, cold_sets_make_twice_the_l2_and_leave_it_before_their_turn) {
  const Bytes l2(60 * kMiB);
  for (double mib = 0.001; mib < 10000.0; mib *= 1.7) {
    const Bytes footprint(mib * kMiB);
    const auto rotation = plan_rotation(CacheMode::cold, footprint, l2);
    ASSERT_GE(rotation.sets, 2u);
    if (rotation.flush) {
      EXPECT_EQ(rotation.how(), "flush_between_bursts");
      EXPECT_GE(rotation.flush_bytes, 2.0 * l2);
      EXPECT_EQ(rotation.sets, 64u);
    } else {
      EXPECT_EQ(rotation.how(), "rotation");
      const auto sets = static_cast<double>(rotation.sets);
      EXPECT_GE(sets * footprint, 2.0 * l2) << mib;
      EXPECT_GE((sets - 1.0) * footprint, l2) << mib;  // touched between two uses of a set
    }
  }
}

TEST(LaunchPlan, short_kernels_replay_a_graph_and_long_ones_do_not) {
  const CacheRotation hot;
  EXPECT_EQ(plan_launches(Seconds(3e-6), hot).mode, LaunchMode::graph);
  EXPECT_EQ(plan_launches(Seconds(49e-6), hot).mode, LaunchMode::graph);
  EXPECT_EQ(plan_launches(Seconds(51e-6), hot).mode, LaunchMode::stream);
  EXPECT_EQ(plan_launches(Seconds(1.0), hot).launches, 1u);
}

TEST(LaunchPlan, bursts_are_long_enough_to_time_capped_and_followed_by_a_pause) {
  for (double kernel = 1e-6; kernel < 1.0; kernel *= 1.5) {
    const auto plan = plan_launches(Seconds(kernel), {});
    const double burst = static_cast<double>(plan.launches) * kernel;
    EXPECT_LE(plan.launches, 256u);
    if (plan.launches > 1) {
      EXPECT_LE(burst, 5e-3) << kernel;
    }
    EXPECT_GE(burst, std::min(0.5e-3, 256.0 * kernel) * 0.999) << kernel;
    EXPECT_GT(plan.pause.value(), 0.0);
    EXPECT_LE(plan.pause.value(), 2e-3);
  }
}

TEST(LaunchPlan, a_cold_replay_goes_through_all_sets_equally_often) {
  const auto rotation = plan_rotation(CacheMode::cold, Bytes(5 * kMiB), Bytes(60 * kMiB));
  const auto plan = plan_launches(Seconds(4e-6), rotation);
  EXPECT_EQ(plan.mode, LaunchMode::graph);
  EXPECT_EQ(plan.launches % rotation.sets, 0u);
  const auto flushed = plan_rotation(CacheMode::cold, Bytes(4096), Bytes(60 * kMiB));
  EXPECT_EQ(plan_launches(Seconds(2e-6), flushed).launches, flushed.sets);
}

TEST(Words, are_those_of_the_store) {
  EXPECT_EQ(to_string(LaunchMode::stream), "stream");
  EXPECT_EQ(to_string(LaunchMode::graph), "graph");
  EXPECT_EQ(to_string(LaunchMode::host_loop), "host_loop");
  EXPECT_EQ(to_string(ClockMode::as_shipped), "as_shipped");
  EXPECT_EQ(to_string(ClockMode::fixed_clock), "fixed_clock");
  EXPECT_EQ(to_string(Steadiness::never), "never");
}

}  // namespace
}  // namespace roofcal::microbench
