// The interval of a sum, and the price of what no table covers.
#include "predictor/step/step_interval.h"

#include <gtest/gtest.h>

#include <cmath>

#include "predictor/step/operator_price.h"

namespace roofcal {
namespace {

TEST(StepInterval, CallsOfOneShapeErrAlike) {
  StepInterval interval(0.0);
  interval.reset(1);
  interval.add(0, Seconds(3.0), Seconds(5.0));
  EXPECT_DOUBLE_EQ(interval.below().value(), 3.0);
  EXPECT_DOUBLE_EQ(interval.above().value(), 5.0);
}

TEST(StepInterval, ClassesErrIndependentlyAndShapesOfOneAsFarAsTheyCorrelate) {
  for (const double correlation : {0.0, 0.1, 1.0}) {
    StepInterval interval(correlation);
    interval.reset(2);
    interval.add(0, Seconds(1.0), Seconds(2.0));
    interval.add(0, Seconds(2.0), Seconds(4.0));
    interval.add(1, Seconds(2.0), Seconds(1.0));
    EXPECT_DOUBLE_EQ(interval.below().value(), std::sqrt(9.0 * correlation + 5.0 * (1.0 - correlation) + 4.0));
    EXPECT_DOUBLE_EQ(interval.above().value(), std::sqrt(36.0 * correlation + 20.0 * (1.0 - correlation) + 1.0));
  }
}

TEST(StepInterval, AResetForgets) {
  StepInterval interval;
  interval.reset(1);
  interval.add(0, Seconds(1.0), Seconds(1.0));
  interval.reset(3);
  EXPECT_EQ(interval.below(), Seconds{});
  EXPECT_EQ(interval.above(), Seconds{});
}

class PriceByBound : public ::testing::Test {
 protected:
  PriceByBound() {
    gpu_.memory_bandwidth = BytesPerSecond(4e12);
    gpu_.l2_bandwidth = BytesPerSecond(10e12);
    gpu_.nvlink_bandwidth = BytesPerSecond(400e9);
    gpu_.peaks[static_cast<std::size_t>(Rate::bfloat16)] = FlopsPerSecond(1e15);
    bandwidth_.value = BytesPerSecond(3e12);
    bandwidth_.launch_floor = Seconds(2e-6);
  }
  GpuSpec gpu_;
  MemoryBandwidth bandwidth_;
};

TEST_F(PriceByBound, BytesAtTheCalibratedBandwidthBehindALaunch) {
  Work work;
  work.bytes_read = Bytes(2e9);
  work.bytes_written = Bytes(1e9);
  const Price price = price_by_bound(gpu_, bandwidth_, work);
  EXPECT_DOUBLE_EQ(price.time.value(), 1e-3 + 2e-6);
  EXPECT_EQ(price.bound, Limit::memory);
  EXPECT_EQ(price.provenance, Provenance::roofline);
  EXPECT_GE(price.lo, price.roofline);
  EXPECT_DOUBLE_EQ(price.hi / price.time, 2.0);
  EXPECT_EQ(price.by, nullptr);
}

TEST_F(PriceByBound, FlopsAtThePeak) {
  Work work;
  work.rate = Rate::bfloat16;
  work.flops = Flops(5e12);
  const Price price = price_by_bound(gpu_, bandwidth_, work);
  EXPECT_DOUBLE_EQ(price.time.value(), 5e-3 + 2e-6);
  EXPECT_EQ(price.bound, Limit::compute);
  EXPECT_DOUBLE_EQ(price.lo.value(), 5e-3);  // half would be below the hard bound
}

TEST_F(PriceByBound, LinksAndLaunches) {
  Work work;
  work.link_bytes = Bytes(4e8);
  const Price far = price_by_bound(gpu_, bandwidth_, work);
  EXPECT_DOUBLE_EQ(far.time.value(), 1e-3 + 2e-6);
  EXPECT_EQ(far.bound, Limit::link);
  EXPECT_DOUBLE_EQ(far.hi / far.time, 4.0);
  work.link_bytes = Bytes{};
  work.bytes_read = Bytes(100.0);
  EXPECT_EQ(price_by_bound(gpu_, bandwidth_, work).bound, Limit::latency);
}

}  // namespace
}  // namespace roofcal
