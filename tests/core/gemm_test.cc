#include "core/gemm.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/cells_of.h"

namespace roofcal {
namespace {

Work work_of(const char* dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  return gemm_operator().work({{"dtype", dtype}}, Shape{m, n, k});
}

// All by hand for m = 128, n = 256, k = 512: m k = 65536, n k = 131072, m n = 32768, 2 m n k = 33554432.
TEST(GemmWork, Bfloat16) {
  const Work work = work_of("bfloat16", 128, 256, 512);
  EXPECT_EQ(work.flops.value(), 33554432.0);
  EXPECT_EQ(work.bytes_read.value(), 393216.0);  // 2 * 65536 + 2 * 131072
  EXPECT_EQ(work.bytes_written.value(), 65536.0);
  EXPECT_EQ(work.bytes().value(), 458752.0);
  EXPECT_EQ(work.link_bytes.value(), 0.0);
  EXPECT_EQ(work.rate, Rate::bfloat16);
}

TEST(GemmWork, Fp8) {
  const Work work = work_of("fp8", 128, 256, 512);
  EXPECT_EQ(work.flops.value(), 33554432.0);
  EXPECT_EQ(work.bytes_read.value(), 196608.0);  // 65536 + 131072
  EXPECT_EQ(work.bytes_written.value(), 65536.0);
  EXPECT_EQ(work.rate, Rate::fp8);
}

TEST(GemmWork, Fp8BlockCountsItsScales) {
  const Work work = work_of("fp8_block", 128, 256, 512);
  // Activations 65536 + 4 * 128 * (512 / 128) = 67584; weights 131072 + 4 * (256 / 128) * (512 / 128) = 131104.
  EXPECT_EQ(work.bytes_read.value(), 198688.0);
  EXPECT_EQ(work.bytes_written.value(), 65536.0);
  EXPECT_EQ(work.rate, Rate::fp8);
}

TEST(GemmWork, Nvfp4CountsItsScales) {
  const Work work = work_of("nvfp4", 128, 256, 512);
  // (65536 + 131072) / 2 bytes of values, (65536 + 131072) / 16 bytes of scales.
  EXPECT_EQ(work.bytes_read.value(), 110592.0);
  EXPECT_EQ(work.bytes_written.value(), 65536.0);
  EXPECT_EQ(work.rate, Rate::fp4);
}

TEST(GemmWork, OfTheReadmesExample) {
  const Work work = work_of("bfloat16", 4096, 8192, 8192);
  EXPECT_EQ(work.flops.value(), 549755813888.0);  // 2^39
  EXPECT_EQ(work.bytes_read.value(), 201326592.0);
  EXPECT_EQ(work.bytes_written.value(), 67108864.0);
}

TEST(GemmWork, DoesNotOverflowForTheLargestSizes) {
  const std::int64_t most = gemm_operator().fields()[0].max;
  EXPECT_EQ(work_of("bfloat16", most, most, most).flops.value(), 0x1p94);  // 2 (2^31)^3
}

TEST(GemmTable, ReadsAnAIConfiguratorRow) {
  const auto call = gemm_operator().from_table(
      cells_of({{"framework", "TRTLLM"}, {"gemm_dtype", "fp8_block"}, {"m", "16"}, {"n", "2112"}, {"k", "7168"}}));
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->shape, (Shape{16, 2112, 7168}));
  EXPECT_EQ(call->attributes, (Attributes{{"dtype", "fp8_block"}}));
}

TEST(GemmTable, SaysWhatIsWrongWithARow) {
  const auto complaint = [](std::map<std::string, std::string, std::less<>> row) {
    const auto call = gemm_operator().from_table(cells_of(std::move(row)));
    return call ? std::string("accepted") : call.error().message;
  };
  using testing::HasSubstr;
  EXPECT_THAT(complaint({{"gemm_dtype", "fp8"}, {"m", "0"}, {"n", "1"}, {"k", "1"}}), HasSubstr("m 0 is outside"));
  EXPECT_THAT(complaint({{"gemm_dtype", "fp8"}, {"m", "-4"}, {"n", "1"}, {"k", "1"}}), HasSubstr("m -4 is outside"));
  EXPECT_THAT(complaint({{"gemm_dtype", "fp8"}, {"m", "1"}, {"n", "x"}, {"k", "1"}}), HasSubstr("n 'x' is not"));
  EXPECT_THAT(complaint({{"gemm_dtype", "fp8"}, {"m", "1"}, {"n", "1"}}), HasSubstr("k: no such column"));
  EXPECT_THAT(complaint({{"gemm_dtype", "fp12"}, {"m", "1"}, {"n", "1"}, {"k", "1"}}),
              HasSubstr("'fp12' is not known"));
  EXPECT_THAT(complaint({{"m", "1"}, {"n", "1"}, {"k", "1"}}), HasSubstr("gemm_dtype: no such column"));
}

}  // namespace
}  // namespace roofcal
