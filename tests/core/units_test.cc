#include "core/units.h"

#include <type_traits>

#include "gtest/gtest.h"

namespace roofcal {
namespace {

TEST(Units, SameDimensionAddsSubtractsAndCompares) {
  EXPECT_EQ((Seconds(1.5) + Seconds(0.25)).value(), 1.75);
  EXPECT_EQ((Bytes(10.0) - Bytes(4.0)).value(), 6.0);
  EXPECT_LT(Seconds(1e-6), Seconds(2e-6));
  EXPECT_EQ(Flops(3.0), Flops(3.0));
  Seconds total(1.0);
  total += Seconds(2.0);
  EXPECT_EQ(total, Seconds(3.0));
  EXPECT_EQ(Bytes{}.value(), 0.0);
}

TEST(Units, ScalesByPlainNumbers) {
  EXPECT_EQ(2.0 * Seconds(3.0), Seconds(6.0));
  EXPECT_EQ(Seconds(3.0) * 2.0, Seconds(6.0));
  EXPECT_EQ(Seconds(3.0) / 2.0, Seconds(1.5));
}

TEST(Units, ProductsAndRatiosHaveTheirDimension) {
  static_assert(std::is_same_v<decltype(Bytes(1.0) / Seconds(1.0)), BytesPerSecond>);
  static_assert(std::is_same_v<decltype(Flops(1.0) / FlopsPerSecond(1.0)), Seconds>);
  static_assert(std::is_same_v<decltype(Flops(1.0) / Bytes(1.0)), FlopsPerByte>);
  static_assert(std::is_same_v<decltype(FlopsPerByte(1.0) * BytesPerSecond(1.0)), FlopsPerSecond>);
  static_assert(std::is_same_v<decltype(BytesPerSecond(1.0) * Seconds(1.0)), Bytes>);
  EXPECT_EQ(Bytes(6.0) / BytesPerSecond(2.0), Seconds(3.0));
}

TEST(Units, RatioOfLikeQuantitiesIsAPlainNumber) {
  static_assert(std::is_same_v<decltype(Seconds(1.0) / Seconds(2.0)), double>);
  static_assert(std::is_same_v<decltype(Hertz(1.0) * Seconds(2.0)), double>);
  EXPECT_EQ(Seconds(3.0) / Seconds(2.0), 1.5);
}

TEST(Units, AreEvaluatedAtCompileTime) {
  constexpr Seconds time = Flops(8.0) / FlopsPerSecond(4.0);
  static_assert(time.value() == 2.0);
  static_assert(sizeof(Seconds) == sizeof(double));
}

}  // namespace
}  // namespace roofcal
