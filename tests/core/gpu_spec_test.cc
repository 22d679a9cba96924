#include "core/gpu_spec.h"

#include "gtest/gtest.h"

namespace roofcal {
namespace {

TEST(GpuNames, AreComparedWithoutCaseSpacesAndPunctuation) {
  EXPECT_EQ(normalised_gpu_name("NVIDIA H200"), "nvidiah200");
  EXPECT_EQ(normalised_gpu_name("nvidia_h200"), normalised_gpu_name("NVIDIA-H200"));
  EXPECT_EQ(normalised_gpu_name("h200_sxm"), normalised_gpu_name("H200 SXM"));
  EXPECT_EQ(normalised_gpu_name("NVIDIA A100-SXM4-80GB"), "nvidiaa100sxm480gb");
  EXPECT_NE(normalised_gpu_name("h100_sxm"), normalised_gpu_name("h200_sxm"));
  EXPECT_EQ(normalised_gpu_name(" - "), "");
}

TEST(GpuNames, BytesBeyondAsciiDoNoHarm) { EXPECT_EQ(normalised_gpu_name("H200\xc2\xae"), "h200"); }

TEST(GpuSpecs, APeakOfZeroMeansThatThePartLacksIt) {
  GpuSpec spec;
  EXPECT_FALSE(spec.has(Rate::fp8));
  spec.peaks[static_cast<std::size_t>(Rate::fp8)] = FlopsPerSecond(2e15);
  EXPECT_TRUE(spec.has(Rate::fp8));
  EXPECT_EQ(spec.peak(Rate::fp8), FlopsPerSecond(2e15));
  EXPECT_FALSE(spec.has(Rate::fp4));
}

}  // namespace
}  // namespace roofcal
