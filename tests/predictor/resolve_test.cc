#include "predictor/resolve.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace roofcal {
namespace {

TEST(CompareVersions, NumbersCompareAsNumbers) {
  EXPECT_LT(compare_versions("1.3.0", "1.10.0"), 0);
  EXPECT_GT(compare_versions("0.24.0", "0.5.14"), 0);
  EXPECT_EQ(compare_versions("2.29.2", "2.29.2"), 0);
}

TEST(CompareVersions, AReleaseIsNewerThanItsCandidates) {
  EXPECT_GT(compare_versions("1.3.0", "1.3.0rc10"), 0);
  EXPECT_LT(compare_versions("1.3.0rc9", "1.3.0rc10"), 0);
  EXPECT_GT(compare_versions("1.3.0rc1", "1.2.9"), 0);
  EXPECT_GT(compare_versions("1.3.0.1", "1.3.0"), 0);
}

TEST(PreferredFramework, TrtllmThenVllmThenSglangThenByName) {
  EXPECT_EQ(preferred_framework(std::array<std::string, 3>{"sglang", "vllm", "trtllm"}), "trtllm");
  EXPECT_EQ(preferred_framework(std::array<std::string, 2>{"sglang", "vllm"}), "vllm");
  EXPECT_EQ(preferred_framework(std::array<std::string, 2>{"nccl", "cublaslt"}), "cublaslt");
}

GpuSpec spec(std::string name, std::string architecture, double peak, double bandwidth, int sms) {
  GpuSpec gpu;
  gpu.name = std::move(name);
  gpu.architecture = std::move(architecture);
  gpu.peaks[static_cast<std::size_t>(Rate::bfloat16)] = FlopsPerSecond(peak);
  gpu.memory_bandwidth = BytesPerSecond(bandwidth);
  gpu.sm_count = sms;
  return gpu;
}

TEST(TransferDistance, TheSameArchitectureIsCloserThanTheSameFigures) {
  const GpuSpec target = spec("h200", "hopper", 989e12, 4.8e12, 132);
  const GpuSpec sibling = spec("h20", "hopper", 148e12, 4.0e12, 78);
  const GpuSpec twin = spec("other", "blackwell", 989e12, 4.8e12, 132);
  EXPECT_LT(transfer_distance(sibling, target, Rate::bfloat16), transfer_distance(twin, target, Rate::bfloat16));
  EXPECT_EQ(transfer_distance(target, target, Rate::bfloat16), 0.0);
}

TEST(TransferHalfwidth, WiderAcrossArchitectures) {
  const GpuSpec a = spec("a", "hopper", 1, 1, 1);
  const GpuSpec b = spec("b", "ada", 1, 1, 1);
  EXPECT_GT(transfer_log_halfwidth(a, b), transfer_log_halfwidth(a, a));
  // The further a what-if goes, the less is known.
  GpuSpec base;
  base.architecture = "hopper";
  base.memory_bandwidth = BytesPerSecond(4.8e12);
  base.sm_count = 132;
  GpuSpec twice = base;
  twice.memory_bandwidth = 2.0 * base.memory_bandwidth;
  GpuSpec thrice = base;
  thrice.memory_bandwidth = 3.0 * base.memory_bandwidth;
  GpuSpec larger = thrice;
  larger.sm_count = 264;
  EXPECT_GT(transfer_log_halfwidth(base, twice), transfer_log_halfwidth(base, base));
  EXPECT_GT(transfer_log_halfwidth(base, thrice), transfer_log_halfwidth(base, twice));
  EXPECT_GT(transfer_log_halfwidth(base, larger), transfer_log_halfwidth(base, thrice));
}

}  // namespace
}  // namespace roofcal
