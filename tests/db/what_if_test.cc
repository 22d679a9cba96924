#include "db/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace roofcal {
namespace {

using ::testing::HasSubstr;

class WhatIf : public ::testing::Test {
 protected:
  void SetUp() override {
    auto loaded = GpuCatalogue::load(std::string(ROOFCAL_SOURCE_DIR) + "/db/catalogue");
    ASSERT_TRUE(loaded) << loaded.error().message;
    gpus_ = *std::move(loaded);
  }

  // The GPU that the changes make, read back as the catalogue reads it.
  GpuSpec made(const std::string& changes, const std::string& base = "h200_sxm") {
    const auto parsed = parse_figure_changes(changes);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
    const auto text = what_if_gpu(*gpus_.find(base), *parsed, "future1");
    EXPECT_TRUE(text) << (text ? "" : text.error().message);
    GpuCatalogue alone;
    const auto added = alone.add(*text, "test", "store");
    EXPECT_TRUE(added) << (added ? "" : added.error().message);
    return *alone.spec("future1");
  }

  std::string refusal(const std::string& changes, const std::string& base = "h200_sxm") {
    const auto parsed = parse_figure_changes(changes);
    const auto text = parsed ? what_if_gpu(*gpus_.find(base), *parsed, "future1") : Result<std::string>(parsed.error());
    EXPECT_FALSE(text) << changes;
    if (text) return "";
    EXPECT_EQ(text.error().code, ErrorCode::usage);
    return text.error().message;
  }

  GpuCatalogue gpus_;
};

TEST_F(WhatIf, UnitsAndFactorsBothWork) {
  const GpuSpec& base = *gpus_.spec("h200_sxm");
  EXPECT_DOUBLE_EQ(made("mem_bw=8TB/s").memory_bandwidth.value(), 8e12);
  EXPECT_DOUBLE_EQ(made("mem_bw=2x").memory_bandwidth.value(), 9.6e12);
  EXPECT_DOUBLE_EQ(made("mem_bw = 8000 GB/s").memory_bandwidth.value(), 8e12);
  EXPECT_DOUBLE_EQ(made("l2=126MiB").l2.value(), 126.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(made("memory=288GB").memory.value(), 288e9);
  EXPECT_DOUBLE_EQ(made("nvlink=900e9").nvlink_bandwidth.value(), 900e9);
  EXPECT_DOUBLE_EQ(made("tdp=1kW").tdp.value(), 1000.0);
  EXPECT_DOUBLE_EQ(made("bfloat16=1.5PFLOP/s").peak(Rate::bfloat16).value(), 1.5e15);
  const GpuSpec twice = made("flops=2x");
  EXPECT_DOUBLE_EQ(twice.peak(Rate::fp8).value(), 2.0 * base.peak(Rate::fp8).value());
  EXPECT_EQ(twice.sm_count, base.sm_count);
}

TEST_F(WhatIf, PeaksAndL2BandwidthGoWithSmsAndClock) {
  const GpuSpec& base = *gpus_.spec("h200_sxm");
  const GpuSpec more = made("sms=160");
  EXPECT_EQ(more.sm_count, 160);
  EXPECT_NEAR(more.peak(Rate::bfloat16) / base.peak(Rate::bfloat16), 160.0 / 132.0, 1e-12);
  EXPECT_NEAR(more.l2_bandwidth / base.l2_bandwidth, 160.0 / 132.0, 1e-12);
  EXPECT_EQ(more.memory_bandwidth, base.memory_bandwidth);
  EXPECT_EQ(more.architecture, "hopper");
  const GpuSpec faster = made("clock=1.1x");
  EXPECT_NEAR(faster.peak(Rate::fp8) / base.peak(Rate::fp8), 1.1, 1e-12);
  // What is set itself stays as set.
  EXPECT_DOUBLE_EQ(made("sms=160,bfloat16=1x").peak(Rate::bfloat16).value(), base.peak(Rate::bfloat16).value());
}

TEST_F(WhatIf, NothingElseChanges) {
  const GpuSpec& base = *gpus_.spec("b200_sxm");
  const GpuSpec same = made("mem_bw=1x", "b200_sxm");
  EXPECT_EQ(same.memory_bandwidth, base.memory_bandwidth);
  EXPECT_EQ(same.peaks, base.peaks);
  EXPECT_EQ(same.l2, base.l2);
  EXPECT_EQ(same.l2_bandwidth, base.l2_bandwidth);
  EXPECT_EQ(same.memory, base.memory);
  EXPECT_EQ(same.nvlink_bandwidth, base.nvlink_bandwidth);
  EXPECT_EQ(same.name, "future1");
}

TEST_F(WhatIf, ContradictionsAreRefused) {
  EXPECT_THAT(refusal("mem_bw=2x,mem_bw=8TB/s"), HasSubstr("mem_bw twice"));
  EXPECT_THAT(refusal("flops=2x,fp8=1PFLOP/s"), HasSubstr("flops and fp8 are both set"));
  EXPECT_THAT(refusal("bfloat16=3PFLOP/s"), HasSubstr("fp8_flops_per_s"));  // fp8 would be slower
  EXPECT_THAT(refusal("mem_bw=20TB/s"), HasSubstr("l2_bandwidth_bytes_per_s"));
  EXPECT_THAT(refusal("l2=200GB"), HasSubstr("memory_bytes"));
  EXPECT_THAT(refusal("sms=1.5x,clock=1x,sms=100"), HasSubstr("sms twice"));
  EXPECT_THAT(refusal("sms=1.001x"), HasSubstr("no whole number"));
  EXPECT_THAT(refusal("nvlink=2x", "l40s"), HasSubstr("l40s has no nvlink to multiply"));
  EXPECT_THAT(refusal("fp4=2x"), HasSubstr("no fp4 to multiply"));
}

TEST_F(WhatIf, WhatCannotBeReadIsNamed) {
  EXPECT_THAT(refusal("mem_bw"), HasSubstr("'mem_bw' is not like"));
  EXPECT_THAT(refusal("mem_bww=2x"), HasSubstr("did you mean mem_bw?"));
  EXPECT_THAT(refusal("mem_bw=fast"), HasSubstr("'fast' is no number"));
  EXPECT_THAT(refusal("mem_bw=8TB"), HasSubstr("'TB' is no unit"));
  EXPECT_THAT(refusal("sms=160GB"), HasSubstr("'GB' is no unit"));
  EXPECT_THAT(refusal("mem_bw=0x"), HasSubstr("not greater than zero"));
  EXPECT_THAT(refusal("mem_bw=-1TB/s"), HasSubstr("not greater than zero"));
  EXPECT_THAT(refusal("mem_bw=nan"), HasSubstr("not greater than zero"));
  EXPECT_THAT(refusal("flops=2PFLOP/s"), HasSubstr("by a factor"));
  EXPECT_THAT(refusal("mem_bw=2x,"), HasSubstr("is not like"));
}

}  // namespace
}  // namespace roofcal
