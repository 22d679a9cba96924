#include "microbench/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "microbench/stopping.h"

namespace roofcal::microbench {
namespace {

TEST(Statistics, figures_of_a_known_sample) {
  const std::vector<double> seconds{3e-6, 1e-6, 2e-6, 5e-6, 4e-6};
  const auto s = statistics_of(seconds);
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s->n, 5u);
  EXPECT_DOUBLE_EQ(s->median.value(), 3e-6);
  EXPECT_DOUBLE_EQ(s->mean.value(), 3e-6);
  EXPECT_NEAR(s->p10.value(), 1.4e-6, 1e-18);
  EXPECT_NEAR(s->p90.value(), 4.6e-6, 1e-18);
  EXPECT_NEAR(s->mad.value(), 1e-6, 1e-18);
  // Standard deviation sqrt(2.5) us, over sqrt(5), over 3.
  EXPECT_NEAR(s->relative_error.value(), std::sqrt(2.5 / 5.0) / 3.0, 1e-12);
  EXPECT_EQ(s->outliers, 0u);
}

TEST(Statistics, one_sample_has_no_spread) {
  const auto s = statistics_of(std::vector<double>{1e-3});
  ASSERT_TRUE(s.ok());
  EXPECT_FALSE(s->relative_error.has_value());
  EXPECT_DOUBLE_EQ(s->p10.value(), 1e-3);
  EXPECT_DOUBLE_EQ(s->p90.value(), 1e-3);
}

TEST(Statistics, the_median_ignores_a_hiccup_and_counts_it) {
  std::vector<double> seconds(20, 1e-3);
  for (std::size_t i = 0; i < seconds.size(); ++i) seconds[i] += 1e-6 * static_cast<double>(i % 3);
  seconds[7] = 5e-3;
  const auto s = statistics_of(seconds);
  ASSERT_TRUE(s.ok());
  EXPECT_NEAR(s->median.value(), 1e-3, 2e-6);
  EXPECT_EQ(s->outliers, 1u);
}

TEST(Statistics, equal_samples_have_no_outliers_within_the_timers_grain) {
  std::vector<double> seconds(30, 1e-3);
  seconds[3] += 1e-6;
  EXPECT_EQ(statistics_of(seconds)->outliers, 0u);
}

TEST(Statistics, nothing_and_nonsense_are_errors_not_numbers) {
  EXPECT_NE(statistics_of({}).error().message.find("no sample"), std::string::npos);
  for (const double bad :
       {0.0, -1e-6, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(statistics_of(std::vector<double>{1e-6, bad}).ok()) << bad;
  }
}

// Feeds a recorded stream; returns why and after how many samples it ended.
struct Ended {
  StopReason reason;
  std::size_t samples;
};
std::optional<Ended> feed(const std::vector<double>& stream, const StoppingLimits& limits, double per_sample_s) {
  StoppingRule rule(limits);
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const auto stop = rule.add(Seconds(stream[i]), Seconds(per_sample_s * static_cast<double>(i + 1)));
    if (stop) return Ended{*stop, i + 1};
  }
  return std::nullopt;
}

// +-a about 1 ms in turn: relative standard error a / sqrt(n - 1).
std::vector<double> alternating(double a, std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = 1e-3 * (1.0 + (i % 2 == 0 ? a : -a));
  return out;
}

TEST(Stopping, a_quiet_kernel_stops_at_the_least_number_of_samples) {
  const auto ended = feed(alternating(0.001, 100), {}, 1e-3);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->reason, StopReason::precise);
  EXPECT_EQ(ended->samples, 10u);
}

TEST(Stopping, a_noisy_kernel_goes_on_until_it_is_precise) {
  const auto ended = feed(alternating(0.03, 200), {}, 1e-3);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->reason, StopReason::precise);
  // For odd n the error is 0.03 sqrt(n + 1) / n, below 0.005 from n = 37 on.
  EXPECT_EQ(ended->samples, 37u);
}

TEST(Stopping, the_time_limit_ends_what_never_gets_precise) {
  const auto ended = feed(alternating(0.5, 5000), {}, 10e-3);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->reason, StopReason::time_limit);
  EXPECT_EQ(ended->samples, 50u);
}

TEST(Stopping, a_kernel_of_a_second_runs_once) {
  const auto ended = feed({1.0, 1.0}, {}, 1.0);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->reason, StopReason::time_limit);
  EXPECT_EQ(ended->samples, 1u);
}

TEST(Stopping, a_fast_noisy_kernel_ends_at_the_sample_limit) {
  StoppingLimits limits;
  limits.max_samples = 64;
  const auto ended = feed(alternating(0.5, 5000), limits, 1e-6);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->reason, StopReason::sample_limit);
  EXPECT_EQ(ended->samples, 64u);
}

TEST(Stopping, agrees_with_the_statistics_of_the_same_stream) {
  const auto stream = alternating(0.04, 31);
  StoppingRule rule({});
  for (const double s : stream) (void)rule.add(Seconds(s), Seconds(0.0));
  EXPECT_NEAR(rule.relative_error().value(), statistics_of(stream)->relative_error.value(), 1e-12);
}

TEST(Stopping, reasons_are_words) {
  EXPECT_EQ(to_string(StopReason::precise), "precise");
  EXPECT_EQ(to_string(StopReason::time_limit), "time_limit");
  EXPECT_EQ(to_string(StopReason::sample_limit), "sample_limit");
}

}  // namespace
}  // namespace roofcal::microbench
