#include "calibrate/curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "calibrate/fit.h"
#include "tests/calibrate/synthetic.h"

namespace roofcal {
namespace {

GpuSpec linked_gpu() {
  GpuSpec gpu = test::synthetic_gpu();
  gpu.nvlink_bandwidth = BytesPerSecond(450e9);
  return gpu;
}

ClassKey collective_key() {
  ClassKey key = test::synthetic_key();
  key.op = "collective";
  key.attributes = {{"collective", "all_reduce"}, {"ranks", "8"}, {"topology", "node"}};
  return key;
}

// Latency, then bandwidth, with a protocol switch at 1 MiB.
double true_time(double bytes) { return 8e-6 + bytes / (bytes < 0x1p20 ? 100e9 : 230e9) + (bytes < 0x1p20 ? 0 : 3e-6); }

std::vector<Sample> octaves(int from, int to) {
  std::vector<Sample> samples;
  for (int power = from; power <= to; ++power) {
    Sample sample;
    sample.shape = Shape{std::int64_t{1} << power};
    sample.time = Seconds(true_time(std::exp2(power)));
    samples.push_back(sample);
  }
  return samples;
}

TEST(Curve, PassesThroughItsPointsAndLinearlyBetween) {
  const auto points = octaves(8, 28);
  const Curve curve(points);
  for (const Sample& point : points) {
    EXPECT_DOUBLE_EQ(curve.time(static_cast<double>(point.shape[0])), point.time.value());
  }
  EXPECT_NEAR(curve.time(0x1.8p24), true_time(0x1.8p24), 1e-12);
}

TEST(Curve, LatencyLeadsBelowAndTheLastSlopeBeyond) {
  const Curve curve(octaves(10, 26));
  EXPECT_DOUBLE_EQ(curve.time(1.0), true_time(0x1p10));
  EXPECT_NEAR(curve.time(0x1p30), true_time(0x1p30), 1e-9);
  std::vector<Sample> falling = octaves(25, 26);
  falling[1].time = Seconds(0.9 * falling[0].time.value());
  const Curve noisy(falling);
  EXPECT_DOUBLE_EQ(noisy.time(0x1p30), noisy.time(0x1p26));
}

TEST(Curve, OnePointIsAConstant) {
  const Curve curve(octaves(10, 10));
  EXPECT_DOUBLE_EQ(curve.time(5.0), true_time(0x1p10));
  EXPECT_DOUBLE_EQ(curve.time(1e9), true_time(0x1p10));
  EXPECT_EQ(curve.left_out_errors()[0], 0.0);
}

TEST(Curve, BetweenPointsHoldsNoMeasuredTimeAndStaysClose) {
  // Bent everywhere: on a straight stretch even the points between are measured times.
  auto points = octaves(8, 28);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].time = (i % 2 == 0 ? 1.02 : 0.98) * points[i].time;
  }
  const Curve curve = Curve(points).between_points();
  const nlohmann::json json = curve.to_json();
  for (const Sample& point : points) {
    for (const double time : json["estimates_s"]) {
      EXPECT_GT(std::abs(time / point.time.value() - 1.0), 1e-9) << point.shape[0];
    }
    EXPECT_NEAR(curve.time(static_cast<double>(point.shape[0])) / point.time.value(), 1.0, 0.15);
  }
}

TEST(Curve, RefusesBrokenFiles) {
  const nlohmann::json good = Curve(octaves(8, 12)).to_json();
  EXPECT_DOUBLE_EQ(Curve::from_json(good).time(0x1.8p9), Curve(octaves(8, 12)).time(0x1.8p9));
  auto bad = good;
  bad["sizes"][1] = bad["sizes"][0];
  EXPECT_THROW(static_cast<void>(Curve::from_json(bad)), std::invalid_argument);
  bad = good;
  bad["estimates_s"][2] = 0.0;
  EXPECT_THROW(static_cast<void>(Curve::from_json(bad)), std::invalid_argument);
  bad = good;
  bad["estimates_s"].erase(0);
  EXPECT_THROW(static_cast<void>(Curve::from_json(bad)), std::invalid_argument);
}

TEST(FitOfOneField, UsesACurveThroughTheEndsAndMostPointsWhereItBends) {
  FitOptions options;
  options.points = 11;
  const auto samples = octaves(8, 28);
  const auto model = fit_class(collective_key(), linked_gpu(), samples, options);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->figures().points, 11U);
  const auto chosen = select_points(collective_key(), linked_gpu(), samples, 11, Selection::spread, 5);
  ASSERT_EQ(chosen.size(), 11U);
  EXPECT_EQ(chosen.front(), 0U);
  EXPECT_EQ(chosen.back(), samples.size() - 1);
  // No octave between 128 KiB and 16 MiB is left out, where 450 GB/s and a latency make the curve bend; at both ends
  // some are.
  const auto points_between = [&](int from, int to) {
    return std::ranges::count_if(chosen, [&](std::size_t i) {
      return samples[i].shape[0] >= (std::int64_t{1} << from) && samples[i].shape[0] <= (std::int64_t{1} << to);
    });
  };
  EXPECT_GE(points_between(18, 24), 5);
  EXPECT_LE(points_between(8, 14), 3);
  EXPECT_LE(points_between(25, 28), 2);
  for (const Sample& sample : samples) {
    const Estimate estimate = model->predict(sample.shape);
    EXPECT_NEAR(estimate.time.value() / sample.time.value(), 1.0, 0.15) << sample.shape[0];
    EXPECT_LE(estimate.lo, estimate.time);
    EXPECT_GE(estimate.hi, estimate.time);
  }
  EXPECT_EQ(model->predict(Shape{std::int64_t{1} << 30}).region, Region::outside);
  EXPECT_NEAR(model->predict(Shape{std::int64_t{1} << 30}).time.value(), true_time(0x1p30), 1e-6);
}

TEST(FitOfOneField, NeedsFewRows) {
  EXPECT_EQ(fewest_rows(*find_operator("collective"), 50), 8U);
  EXPECT_EQ(fewest_rows(*find_operator("gemm"), 50), 50U);
}

TEST(FitOfOneField, SurvivesTheRoundTrip) {
  const auto model = fit_class(collective_key(), linked_gpu(), octaves(8, 28), {});
  ASSERT_TRUE(model.ok());
  const auto again = ClassModel::from_json(model->to_json(), linked_gpu());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->to_json(), model->to_json());
  EXPECT_EQ(again->predict(Shape{3000000}).time, model->predict(Shape{3000000}).time);
}

TEST(FitOfOneField, SpreadOfRepeatsWidensTheInterval) {
  const auto width = [](double spread) {
    std::vector<Sample> samples;
    for (const double factor : {1.0 - spread, 1.0, 1.0 + spread}) {
      for (Sample sample : octaves(8, 28)) {
        sample.time = factor * sample.time;
        samples.push_back(sample);
      }
    }
    const auto model = fit_class(collective_key(), linked_gpu(), samples, {});
    EXPECT_TRUE(model.ok());
    const Estimate estimate = model->predict(Shape{1 << 14});
    return estimate.hi.value() / estimate.lo.value();
  };
  EXPECT_GT(width(0.2), 1.1 * width(0.0));
}

}  // namespace
}  // namespace roofcal
