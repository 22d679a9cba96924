#include "core/roofline.h"

#include <cmath>

#include "gtest/gtest.h"
#include "rapidcheck.h"

namespace roofcal {
namespace {

/// Round figures, so that each term can be worked out by hand.
GpuSpec gpu() {
  GpuSpec gpu;
  gpu.name = "test_gpu";
  gpu.sm_count = 100;
  gpu.memory_bandwidth = BytesPerSecond(1e12);
  gpu.l2 = Bytes(50e6);
  gpu.l2_bandwidth = BytesPerSecond(4e12);
  gpu.nvlink_bandwidth = BytesPerSecond(400e9);
  gpu.pcie_bandwidth = BytesPerSecond(50e9);
  gpu.peaks[static_cast<std::size_t>(Rate::bfloat16)] = FlopsPerSecond(1e15);
  return gpu;
}

Work work(double flops, double read, double written = 0.0, double link = 0.0) {
  return {Flops(flops), Rate::bfloat16, Bytes(read), Bytes(written), Bytes(link)};
}

TEST(Roofline, ComputeBound) {
  const Roofline r = roofline(gpu(), work(1e12, 1e6), CacheMode::cold);
  EXPECT_EQ(r.limit, Limit::compute);
  EXPECT_DOUBLE_EQ(r.time.value(), 1e-3);
  EXPECT_DOUBLE_EQ(r.compute.value(), 1e-3);
  EXPECT_DOUBLE_EQ(r.memory.value(), 1e-6);
}

TEST(Roofline, ColdCountsAllBytesAgainstMemory) {
  const Roofline r = roofline(gpu(), work(1.0, 60e6, 20e6), CacheMode::cold);
  EXPECT_EQ(r.limit, Limit::memory);
  EXPECT_DOUBLE_EQ(r.memory.value(), 80e-6);
  EXPECT_DOUBLE_EQ(r.l2.value(), 20e-6);
  EXPECT_DOUBLE_EQ(r.time.value(), 80e-6);
}

TEST(Roofline, HotCountsOnlyTheBytesBeyondL2AgainstMemory) {
  const Roofline r = roofline(gpu(), work(1.0, 60e6, 20e6), CacheMode::hot);
  EXPECT_EQ(r.limit, Limit::memory);
  EXPECT_DOUBLE_EQ(r.memory.value(), 30e-6);
  EXPECT_DOUBLE_EQ(r.time.value(), 30e-6);
}

TEST(Roofline, HotWithinL2IsBoundByL2) {
  const Roofline r = roofline(gpu(), work(1.0, 40e6), CacheMode::hot);
  EXPECT_EQ(r.limit, Limit::l2);
  EXPECT_EQ(r.memory.value(), 0.0);
  EXPECT_DOUBLE_EQ(r.time.value(), 10e-6);
}

TEST(Roofline, LinksAreNvlinkAndElsePcie) {
  GpuSpec spec = gpu();
  const Roofline nvlink = roofline(spec, work(1.0, 0.0, 0.0, 4e6), CacheMode::hot);
  EXPECT_EQ(nvlink.limit, Limit::link);
  EXPECT_DOUBLE_EQ(nvlink.time.value(), 10e-6);
  spec.nvlink_bandwidth = {};
  EXPECT_DOUBLE_EQ(roofline(spec, work(1.0, 0.0, 0.0, 4e6), CacheMode::hot).time.value(), 80e-6);
}

TEST(Roofline, APeakThatTheGpuLacksMakesNoTerm) {
  Work fp4 = work(1e12, 40e6);
  fp4.rate = Rate::fp4;
  EXPECT_FALSE(gpu().has(Rate::fp4));
  const Roofline r = roofline(gpu(), fp4, CacheMode::hot);
  EXPECT_EQ(r.compute.value(), 0.0);
  EXPECT_EQ(r.limit, Limit::l2);
  EXPECT_TRUE(std::isfinite(r.time.value()));
}

TEST(Roofline, LimitsHaveNames) {
  EXPECT_EQ(to_string(Limit::compute), "compute");
  EXPECT_EQ(to_string(Limit::latency), "latency");
}

Work arbitrary_work() {
  const auto amount = [] { return std::pow(10.0, *rc::gen::inRange(0, 16)); };
  return work(amount(), amount(), amount(), amount());
}

TEST(RooflineProperties, TheTimeIsTheLargestTerm) {
  EXPECT_TRUE(rc::check([] {
    const Roofline r = roofline(gpu(), arbitrary_work(), *rc::gen::element(CacheMode::hot, CacheMode::cold));
    RC_ASSERT(r.time == std::max(std::max(r.compute, r.memory), std::max(r.l2, r.link)));
  }));
}

TEST(RooflineProperties, HotIsNeverSlowerThanCold) {
  EXPECT_TRUE(rc::check([] {
    const Work some = arbitrary_work();
    RC_ASSERT(roofline(gpu(), some, CacheMode::hot).time <= roofline(gpu(), some, CacheMode::cold).time);
  }));
}

TEST(RooflineProperties, MoreWorkNeverTakesLess) {
  EXPECT_TRUE(rc::check([] {
    const Work some = arbitrary_work();
    Work more = some;
    more.flops += Flops(1e9);
    more.bytes_read += Bytes(1e6);
    for (const CacheMode mode : {CacheMode::hot, CacheMode::cold}) {
      RC_ASSERT(roofline(gpu(), more, mode).time >= roofline(gpu(), some, mode).time);
    }
  }));
}

}  // namespace
}  // namespace roofcal
