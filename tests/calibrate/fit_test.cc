#include "calibrate/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/calibrate/synthetic.h"

namespace roofcal {
namespace {

using test::synthetic_gpu;
using test::synthetic_key;
using test::synthetic_samples;
using test::synthetic_time;

ClassModel fit(std::span<const Sample> samples, const FitOptions& options = {}) {
  auto model = fit_class(synthetic_key(), synthetic_gpu(), samples, options);
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
  return *std::move(model);
}

// Fits cost a second each: tests that only look share one.
const std::vector<Sample>& shared_samples() {
  static const auto samples = synthetic_samples(200, 1);
  return samples;
}
const ClassModel& shared_model() {
  static const ClassModel model = fit(shared_samples());
  return model;
}

struct Score {
  double mape = 0.0;
  double coverage = 0.0;
};

Score judge(const ClassModel& model, std::span<const Sample> samples) {
  Score score;
  for (const Sample& sample : samples) {
    const Estimate estimate = model.predict(sample.shape);
    const double time = sample.time.value();
    score.mape += std::abs(estimate.time.value() / time - 1.0);
    score.coverage += time >= estimate.lo.value() && time <= estimate.hi.value() ? 1.0 : 0.0;
  }
  score.mape /= static_cast<double>(samples.size());
  score.coverage /= static_cast<double>(samples.size());
  return score;
}

TEST(Fit, LearnsFromFewPointsAndKnowsHowWell) {
  const auto train = synthetic_samples(300, 1);
  const auto test = synthetic_samples(500, 2);
  const ClassModel model = fit(train);
  const Score score = judge(model, test);
  EXPECT_LT(score.mape, 0.05);
  EXPECT_GT(score.coverage, 0.84);
  EXPECT_NEAR(model.figures().mape, score.mape, 0.02);
  EXPECT_EQ(model.figures().points, 300U);
  EXPECT_FALSE(model.figures().host_bound);
}

TEST(Fit, TreesAloneLearnFromMany) {
  const auto train = synthetic_samples(1100, 1);
  FitOptions options;
  options.compact = true;
  const ClassModel model = fit(train, options);
  const Score score = judge(model, synthetic_samples(500, 2));
  EXPECT_LT(score.mape, 0.04);
  EXPECT_GT(score.coverage, 0.84);
  EXPECT_FALSE(model.to_json().contains("process"));
  EXPECT_LE(model.nearest(Shape{128, 128, 128}, 5000).size(), 300U);
}

TEST(Fit, HandfulsOfPointsStillGiveAnInterval) {
  for (const std::size_t count : {1, 2, 5, 20, 60}) {
    const auto train = synthetic_samples(count, 7);
    const ClassModel model = fit(train);
    for (const Sample& sample : synthetic_samples(50, 8)) {
      const Estimate estimate = model.predict(sample.shape);
      EXPECT_TRUE(std::isfinite(estimate.hi.value())) << count;
      EXPECT_LT(estimate.lo, estimate.hi) << count;
    }
  }
}

TEST(Fit, NoEstimateLiesBelowTheHardBoundAndIntervalsAreOrdered) {
  const ClassModel& model = shared_model();
  const Operator& op = *find_operator("gemm");
  Random random(5);
  std::vector<Shape> shapes;
  for (int i = 0; i < 2000; ++i) {  // far beyond the calibrated range too
    const auto draw = [&] { return static_cast<std::int64_t>(std::exp2(20.0 * random.uniform())); };
    shapes.push_back(Shape{draw(), draw(), draw()});
  }
  std::vector<Estimate> estimates(shapes.size());
  model.predict(shapes, estimates);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Seconds bound =
        roofline(synthetic_gpu(), op.work(synthetic_key().attributes, shapes[i]), CacheMode::hot).time;
    EXPECT_GE(estimates[i].lo, bound);
    EXPECT_LE(estimates[i].lo, estimates[i].time);
    EXPECT_LE(estimates[i].time, estimates[i].hi);
    const Estimate alone = model.predict(shapes[i]);
    EXPECT_EQ(alone.time, estimates[i].time);
    EXPECT_EQ(alone.hi, estimates[i].hi);
  }
}

TEST(Fit, BeyondTheRangeTheMeanLeadsAndTheIntervalWidens) {
  const ClassModel& model = shared_model();
  const auto range = model.calibrated_range(0);
  const auto width = [](const Estimate& estimate) { return estimate.hi / estimate.lo; };
  const Estimate inside = model.predict(Shape{range.max, 4096, 4096});
  const Estimate outside = model.predict(Shape{range.max * 64, 4096, 4096});
  EXPECT_NE(inside.region, Region::outside);
  EXPECT_EQ(outside.region, Region::outside);
  EXPECT_EQ(outside.outside_fields, 1U);
  EXPECT_GT(width(outside), width(inside));
  const Shape far{range.max * 4096, 4096, 4096};
  EXPECT_NEAR(model.predict(far).time / model.mean(far), 1.0, 0.1);
}

TEST(Fit, TheSameSamplesGiveTheSameBytes) {
  auto samples = shared_samples();
  std::ranges::reverse(samples);
  EXPECT_EQ(fit(samples).to_json().dump(), shared_model().to_json().dump());
}

TEST(Fit, ComesBackFromJsonAsItWas) {
  const ClassModel& model = shared_model();
  const auto back = ClassModel::from_json(model.to_json(), synthetic_gpu());
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->to_json().dump(), model.to_json().dump());
  for (const Sample& sample : synthetic_samples(50, 3)) {
    EXPECT_EQ(back->predict(sample.shape).time, model.predict(sample.shape).time);
    EXPECT_EQ(back->predict(sample.shape).lo, model.predict(sample.shape).lo);
  }
}

TEST(Fit, PublishesTimesOnlyWhereItMay) {
  const auto samples = synthetic_samples(60, 1);
  const ClassModel open = fit(samples);
  EXPECT_EQ(open.measured(samples[3].shape), samples[3].time);
  EXPECT_EQ(open.nearest(samples[3].shape, 1).front().distance, 0.0);
  EXPECT_EQ(open.nearest(samples[3].shape, 1).front().time, samples[3].time);
  EXPECT_EQ(open.measured(Shape{3, 3, 3}), std::nullopt);
  FitOptions options;
  options.publish_times = false;
  const ClassModel closed = fit(samples, options);
  EXPECT_EQ(closed.measured(samples[3].shape), std::nullopt);
  EXPECT_EQ(closed.nearest(samples[3].shape, 1).front().time, std::nullopt);
}

TEST(Fit, SaysWhatCannotBeFitted) {
  EXPECT_EQ(fit_class(synthetic_key(), synthetic_gpu(), {}, {}).error().code, ErrorCode::bad_data);
  GpuSpec gpu = synthetic_gpu();
  gpu.sm_count = 0;
  const auto samples = synthetic_samples(20, 1);
  EXPECT_THAT(fit_class(synthetic_key(), gpu, samples, {}).error().message, ::testing::HasSubstr("SM count"));
  auto zero = samples;
  zero[4].time = Seconds(0.0);
  EXPECT_FALSE(fit_class(synthetic_key(), synthetic_gpu(), zero, {}).ok());
}

TEST(Fit, SeesTheHostBehindAPlateau) {
  auto samples = synthetic_samples(90, 1);
  for (Sample& sample : samples) {
    sample.time = std::max(sample.time, Seconds(80e-6));
  }
  EXPECT_TRUE(fit(samples).figures().host_bound);
}

TEST(MergeRepeats, TakesTheMedianOfAShape) {
  const Shape shape{1, 2, 3};
  const std::vector<Sample> samples{{shape, Seconds(5.0)},
                                    {Shape{1, 1, 1}, Seconds(7.0)},
                                    {shape, Seconds(1.0)},
                                    {shape, Seconds(2.0)},
                                    {Shape{1, 1, 1}, Seconds(9.0)}};
  const auto merged = merge_repeats(samples);
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].time, Seconds(8.0));
  EXPECT_EQ(merged[1].time, Seconds(2.0));
}

class Select : public ::testing::TestWithParam<Selection> {};

TEST_P(Select, GivesAsManyDistinctPointsAsAskedWhateverTheTimes) {
  auto pool = synthetic_samples(400, 1);
  const auto chosen = select_points(synthetic_key(), synthetic_gpu(), pool, 100, GetParam(), 3);
  EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(chosen));
  for (Sample& sample : pool) {
    sample.time = Seconds(1.0);
  }
  EXPECT_EQ(select_points(synthetic_key(), synthetic_gpu(), pool, 100, GetParam(), 3), chosen);
  EXPECT_NE(select_points(synthetic_key(), synthetic_gpu(), pool, 100, GetParam(), 4), chosen);
  EXPECT_EQ(select_points(synthetic_key(), synthetic_gpu(), pool, 4000, GetParam(), 3).size(), 400U);
}

INSTANTIATE_TEST_SUITE_P(All, Select, ::testing::Values(Selection::spread, Selection::random, Selection::cheap));

TEST(Select, CheapCostsLess) {
  const auto pool = synthetic_samples(2000, 1);
  const auto cost = [&](Selection selection) {
    double sum = 0.0;
    for (const std::size_t i : select_points(synthetic_key(), synthetic_gpu(), pool, 100, selection, 1)) {
      sum += pool[i].time.value();
    }
    return sum;
  };
  EXPECT_LT(cost(Selection::cheap), 0.7 * cost(Selection::spread));
}

}  // namespace
}  // namespace roofcal
