#include "predictor/diff/change.h"

#include <gtest/gtest.h>

#include <cmath>

#include "calibrate/random.h"

namespace roofcal {
namespace {

double noise_of(Random& random, double sigma) {  // nearly normal
  double sum = -6.0;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return std::exp(sigma * sum);
}

double true_time(const Shape& shape) { return 3e-6 + 1e-10 * static_cast<double>(shape[0] * shape[1]); }

std::vector<Sample> table(std::size_t shapes, std::uint64_t seed, double factor = 1.0, double sigma = 0.01) {
  Random random(seed);
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < shapes; ++i) {
    const Shape shape{static_cast<std::int64_t>(1 + i), 64, 64};
    samples.push_back({shape, Seconds(factor * noise_of(random, sigma) * true_time(shape))});
  }
  return samples;
}

TEST(ClassChange, OnePercentOfNoiseIsTheSame) {
  int alarms = 0;
  int same = 0;
  constexpr int kClasses = 200;
  for (int i = 0; i < kClasses; ++i) {
    const auto change = class_change({table(100, 2 * i + 1)}, {table(100, 2 * i + 2)}, 0, 0.01);
    alarms += change.overall.verdict == Verdict::faster || change.overall.verdict == Verdict::slower ? 1 : 0;
    same += change.overall.verdict == Verdict::same ? 1 : 0;
  }
  EXPECT_EQ(alarms, 0);
  EXPECT_GE(same, kClasses * 95 / 100);
}

TEST(ClassChange, FivePercentAreFoundInBothDirections) {
  for (int i = 0; i < 50; ++i) {
    const auto slower = class_change({table(30, 2 * i + 1)}, {table(30, 2 * i + 2, 1.05)}, 0, 0.01);
    EXPECT_EQ(slower.overall.verdict, Verdict::slower);
    EXPECT_NEAR(*slower.overall.median, 0.05, 0.02);
    const auto faster = class_change({table(30, 2 * i + 1)}, {table(30, 2 * i + 2, 0.95)}, 0, 0.01);
    EXPECT_EQ(faster.overall.verdict, Verdict::faster);
  }
}

TEST(ClassChange, TheIntervalHoldsTheTruthNineTimesOfTen) {
  int held = 0;
  constexpr int kTimes = 400;
  for (int i = 0; i < kTimes; ++i) {
    const auto change = class_change({table(41, 2 * i + 1)}, {table(41, 2 * i + 2, 1.03)}, 0, 0.01);
    held += *change.overall.lo <= 0.03 && *change.overall.hi >= 0.03 ? 1 : 0;
  }
  EXPECT_GE(held, kTimes * 87 / 100);
  EXPECT_LE(held, kTimes * 96 / 100);
}

TEST(ClassChange, TooFewShapesDecideNothing) {
  const auto few = class_change({table(4, 1)}, {table(4, 2, 2.0)}, 0, 0.01);
  EXPECT_EQ(few.overall.verdict, Verdict::undecided);
  EXPECT_NEAR(*few.overall.median, 1.0, 0.1);
  EXPECT_FALSE(few.overall.lo);
  const auto enough = class_change({table(5, 1)}, {table(5, 2, 2.0)}, 0, 0.01);
  EXPECT_EQ(enough.overall.verdict, Verdict::slower);
  EXPECT_TRUE(enough.sizes.empty());
  const auto none = class_change({{}}, {table(5, 2)}, 0, 0.01);
  EXPECT_EQ(none.overall.verdict, Verdict::undecided);
  EXPECT_FALSE(none.overall.median);
  EXPECT_EQ(none.only_after, 5U);
}

TEST(ClassChange, SaysWhereAlongTheSizes) {
  std::vector<Sample> after = table(60, 2);
  for (Sample& sample : after) {
    if (sample.shape[0] > 40) sample.time = 1.3 * sample.time;
  }
  const auto change = class_change({table(60, 1)}, {after}, 0, 0.01);
  ASSERT_EQ(change.sizes.size(), 6U);
  EXPECT_EQ(change.sizes.front().from, 1);
  EXPECT_EQ(change.sizes.back().to, 60);
  EXPECT_EQ(change.sizes.back().change.verdict, Verdict::slower);
  EXPECT_NE(change.sizes.front().change.verdict, Verdict::slower);
  // The worst shapes are those of the large sizes, worst first.
  for (std::size_t i = 0; i < 20; ++i) EXPECT_GT(change.shapes[i].shape[0], 40);
  EXPECT_GE(change.shapes.front().change(), change.shapes.back().change());
}

TEST(ClassChange, WhatWholeRunsDifferByDoesNotAverageOut) {
  // Three runs in turn on each side, each slower or faster as a whole by some per cent.
  std::vector<Sample> before;
  std::vector<Sample> after;
  for (const double factor : {0.97, 1.0, 1.03}) {
    for (const Sample& sample : table(100, 1, factor, 0.001)) before.push_back(sample);
    for (const Sample& sample : table(100, 2, 1.02 * factor, 0.001)) after.push_back(sample);
  }
  const auto change = class_change({before}, {after}, 0, 0.01);
  ASSERT_TRUE(change.run_spread);
  EXPECT_NEAR(*change.run_spread, 0.03, 0.005);
  EXPECT_EQ(change.overall.verdict, Verdict::undecided) << *change.overall.lo << ' ' << *change.overall.hi;
  EXPECT_FALSE(class_change({table(100, 1)}, {table(100, 2)}, 0, 0.01).run_spread);
}

TEST(ClassChange, OfSeveralKernelsTheFastestCounts) {
  const auto change = class_change({table(50, 1, 2.0), table(50, 2)}, {table(50, 3)}, 0, 0.01);
  EXPECT_NEAR(*change.overall.median, 0.0, 0.02);
  EXPECT_NEAR(*change.overall.apart, 0.0095, 0.004);  // 1.4 % of noise, its median magnitude
}

}  // namespace
}  // namespace roofcal
