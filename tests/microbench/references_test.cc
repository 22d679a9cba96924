// Number formats, random data and references, against values worked out by hand or by other means.
#include "microbench/references.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "microbench/random_data.h"

namespace roofcal::microbench {
namespace {

TEST(NumberFormats, known_bits) {
  EXPECT_EQ(encode(NumberFormat::bfloat16, 1.0F), 0x3F80u);
  EXPECT_EQ(encode(NumberFormat::bfloat16, -2.5F), 0xC020u);
  EXPECT_EQ(encode(NumberFormat::float16, 1.0F), 0x3C00u);
  EXPECT_EQ(encode(NumberFormat::float16, 65504.0F), 0x7BFFu);
  EXPECT_EQ(encode(NumberFormat::float16, 1e6F), 0x7BFFu);
  EXPECT_EQ(encode(NumberFormat::float16, 0x1p-24F), 0x0001u);  // the smallest subnormal
  EXPECT_EQ(encode(NumberFormat::fp8_e4m3, 1.0F), 0x38u);
  EXPECT_EQ(encode(NumberFormat::fp8_e4m3, 448.0F), 0x7Eu);
  EXPECT_EQ(encode(NumberFormat::fp8_e4m3, -1e9F), 0xFEu);
  EXPECT_EQ(encode(NumberFormat::fp8_e4m3, 0x1p-9F), 0x01u);
  EXPECT_EQ(encode(NumberFormat::fp4_e2m1, 6.0F), 0x7u);
  EXPECT_EQ(encode(NumberFormat::fp4_e2m1, 0.5F), 0x1u);
  EXPECT_EQ(encode(NumberFormat::fp4_e2m1, -3.0F), 0xDu);
  EXPECT_EQ(encode(NumberFormat::int8, -127.0F), 0x81u);
}

TEST(NumberFormats, every_value_comes_back_as_its_bits) {
  struct Format {
    NumberFormat format;
    std::uint32_t count, exponent_mask;
  };
  // NaNs and infinities left out: fp16 and bf16 with all exponent bits set, e4m3 only S.1111.111.
  for (const auto& [format, count, mask] :
       {Format{NumberFormat::float16, 65536, 0x7C00}, Format{NumberFormat::bfloat16, 65536, 0x7F80},
        Format{NumberFormat::fp8_e4m3, 256, 0x7F}, Format{NumberFormat::fp4_e2m1, 16, 0}}) {
    for (std::uint32_t bits = 0; bits < count; ++bits) {
      if (mask != 0 && (bits & mask) == mask) continue;
      ASSERT_EQ(encode(format, static_cast<float>(decode(format, bits))), bits) << static_cast<int>(format);
    }
  }
}

TEST(NumberFormats, rounds_to_the_nearest_ties_to_even) {
  for (const NumberFormat format :
       {NumberFormat::float16, NumberFormat::bfloat16, NumberFormat::fp8_e4m3, NumberFormat::fp4_e2m1}) {
    for (std::uint32_t bits = 1; bits < (1U << (bits_of(format) - 1)) - 2U && bits < 0x7B00; ++bits) {
      const double low = decode(format, bits);
      const double high = decode(format, bits + 1);
      if (!std::isfinite(high) || high > 3e38) break;
      if (format == NumberFormat::fp8_e4m3 && bits + 1 >= 0x7F) break;
      const double middle = (low + high) / 2.0;
      EXPECT_EQ(encode(format, static_cast<float>(middle)), bits % 2 == 0 ? bits : bits + 1) << middle;
      EXPECT_EQ(encode(format, static_cast<float>(low + 0.25 * (high - low))), bits) << low;
      EXPECT_EQ(encode(format, static_cast<float>(low + 0.75 * (high - low))), bits + 1) << low;
    }
  }
}

TEST(RandomData, is_uniform_in_minus_one_to_one_and_differs_by_seed) {
  double sum = 0.0;
  double squares = 0.0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double x = static_cast<double>(random_unit(1, static_cast<std::uint64_t>(i)));
    ASSERT_GE(x, -1.0);
    ASSERT_LT(x, 1.0);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kCount, 0.0, 0.01);
  EXPECT_NEAR(squares / kCount, 1.0 / 3.0, 0.01);
  EXPECT_NE(random_bits(NumberFormat::float32, 1, 0), random_bits(NumberFormat::float32, 2, 0));
}

TEST(RandomData, fp4_uses_its_whole_range_and_int8_never_minus_128) {
  std::set<std::uint32_t> seen;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    seen.insert(random_bits(NumberFormat::fp4_e2m1, 3, i));
    EXPECT_NE(random_bits(NumberFormat::int8, 3, i), 0x80u);
  }
  EXPECT_GE(seen.size(), 15u);  // all but, perhaps, one of the two zeros
}

TEST(GemmReference, is_the_TN_product_of_what_the_seeds_say) {
  const auto formats = gemm_formats("float32").value();
  const RandomOperand a{formats.input, 11};
  const RandomOperand b{formats.input, 12};
  constexpr std::int64_t k = 5;
  const Expected got = gemm_reference(formats, a, b, 2, 3, k);
  double sum = 0.0;
  for (std::uint64_t i = 0; i < k; ++i) {
    sum += static_cast<double>(random_unit(11, 10 + i)) * static_cast<double>(random_unit(12, 15 + i));
  }
  EXPECT_NEAR(got.value, sum, 1e-12);
  EXPECT_GT(got.tolerance, 0.0);
  EXPECT_LT(got.tolerance, 1e-3);
}

TEST(GemmReference, tells_a_right_result_from_the_neighbours) {
  for (const std::string_view dtype :
       {"float32", "tf32", "float16", "bfloat16", "fp8", "fp8_block", "mxfp8", "nvfp4", "int8"}) {
    const auto formats = gemm_formats(dtype).value();
    const RandomOperand a{formats.input, 21};
    const RandomOperand b{formats.input, 22};
    for (const std::int64_t k : {64, 4096}) {
      Check right;
      Check wrong;
      int caught = 0;
      for (std::int64_t i = 0; i < 16; ++i) {
        const Expected here = gemm_reference(formats, a, b, i, 7, k);
        const Expected next = gemm_reference(formats, a, b, i + 1, 7, k);
        // As a kernel that sums exactly and rounds once would have it.
        const double rounded = formats.output == NumberFormat::int32
                                   ? here.value
                                   : decode(formats.output, encode(formats.output, static_cast<float>(here.value)));
        right.compare(rounded, here, "right");
        wrong.compare(next.value, here, "wrong");
        caught += std::abs(next.value - here.value) > here.tolerance ? 1 : 0;
      }
      EXPECT_TRUE(right.passed()) << dtype << ": " << right.worst_where;
      EXPECT_FALSE(wrong.passed()) << dtype;
      EXPECT_GE(caught, 12) << dtype << " k " << k;  // an element of another row nearly always shows
    }
  }
}

TEST(GemmReference, int8_is_exact) {
  const auto formats = gemm_formats("int8").value();
  const Expected one = gemm_reference(formats, {formats.input, 1}, {formats.input, 2}, 0, 0, 100);
  EXPECT_EQ(one.tolerance, 0.0);
  EXPECT_EQ(one.value, std::round(one.value));
  Check check;
  check.compare(one.value, one, "exact");
  EXPECT_TRUE(check.passed());
  check.compare(one.value + 1.0, one, "off by one");
  EXPECT_FALSE(check.passed());
}

TEST(GemmReference, an_unknown_format_is_named_with_what_there_is) {
  const auto formats = gemm_formats("int4_wo");
  ASSERT_FALSE(formats.ok());
  EXPECT_NE(formats.error().message.find("int4_wo"), std::string::npos);
  EXPECT_NE(formats.error().message.find("bfloat16"), std::string::npos);
}

TEST(Check, nothing_compared_is_not_passed_and_nan_never_is) {
  Check check;
  EXPECT_FALSE(check.passed());
  check.compare(1.0, {1.0, 0.1}, "one");
  EXPECT_TRUE(check.passed());
  check.compare(std::numeric_limits<double>::quiet_NaN(), {1.0, 0.1}, "element (3, 4)");
  EXPECT_FALSE(check.passed());
  EXPECT_NE(check.worst_where.find("element (3, 4)"), std::string::npos);
}

TEST(CheckedPositions, corners_and_spread_without_repeats) {
  const auto some = checked_positions(1000, 2000, 64, 5);
  EXPECT_EQ(some.size(), 64u);
  EXPECT_EQ(std::set<Position>(some.begin(), some.end()).size(), 64u);
  for (const Position corner : {Position{0, 0}, Position{0, 1999}, Position{999, 0}, Position{999, 1999}}) {
    EXPECT_NE(std::find(some.begin(), some.end(), corner), some.end());
  }
  EXPECT_EQ(checked_positions(3, 4, 64, 5).size(), 12u);
  EXPECT_EQ(checked_positions(1, 1000000, 64, 5).size(), 64u);
}

TEST(MemoryReferences, by_hand) {
  const std::vector<double> row{3.0, 4.0};
  const std::vector<double> weight{1.0, 2.0};
  const auto norm = rms_norm_reference(row, weight, 0.0);
  EXPECT_NEAR(norm[0].value, 3.0 / std::sqrt(12.5), 1e-12);
  EXPECT_NEAR(norm[1].value, 8.0 / std::sqrt(12.5), 1e-12);

  const auto silu = silu_and_mul_reference(std::vector<double>{0.0, 1.0}, std::vector<double>{5.0, 2.0});
  EXPECT_EQ(silu[0].value, 0.0);
  EXPECT_NEAR(silu[1].value, 2.0 / (1.0 + std::exp(-1.0)), 1e-12);

  // A quarter turn: (1, 2) becomes (-2, 1).
  const auto turned =
      rotary_reference(std::vector<double>{1.0, 2.0}, std::vector<double>{0.0}, std::vector<double>{1.0});
  EXPECT_EQ(turned[0].value, -2.0);
  EXPECT_EQ(turned[1].value, 1.0);

  EXPECT_EQ(add_reference(std::vector<double>{1.5}, std::vector<double>{2.0})[0].value, 3.5);
  EXPECT_EQ(triad_reference(std::vector<double>{1.0}, std::vector<double>{2.0}, 3.0)[0].value, 7.0);
}

}  // namespace
}  // namespace roofcal::microbench
