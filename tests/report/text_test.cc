#include "report/text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace roofcal::report {
namespace {

TEST(Scaled, TimesTakeTheUnitThatFits) {
  EXPECT_EQ(scaled(0.000812375, Unit::seconds), "812.4 us");
  EXPECT_EQ(scaled(1.5, Unit::seconds), "1.500 s");
  EXPECT_EQ(scaled(2.25e-3, Unit::seconds), "2.250 ms");
  EXPECT_EQ(scaled(7e-9, Unit::seconds), "7.000 ns");
  EXPECT_EQ(scaled(0.0, Unit::seconds), "0 s");
}

TEST(Scaled, RoundingUpReachesTheNextUnit) {
  EXPECT_EQ(scaled(0.99999e-3, Unit::seconds), "1.000 ms");
  EXPECT_EQ(scaled(0.9999e-3, Unit::seconds), "999.9 us");
}

TEST(Scaled, SizesAreDecimalWhereTheyAreSoldSo) {
  EXPECT_EQ(scaled(141e9, Unit::bytes), "141 GB");
  EXPECT_EQ(scaled(50.0 * 0x1p20, Unit::bytes), "50 MiB");
  EXPECT_EQ(scaled(512.0, Unit::bytes), "512 B");
  EXPECT_EQ(scaled(0.0, Unit::bytes), "0 B");
  EXPECT_EQ(scaled(0x1p30, Unit::bytes), "1 GiB");
}

TEST(Scaled, RatesAndShares) {
  EXPECT_EQ(scaled(989.5e12, Unit::flops_per_second), "989.5 TFLOP/s");
  EXPECT_EQ(scaled(4.8e12, Unit::bytes_per_second), "4.800 TB/s");
  EXPECT_EQ(scaled(1.98e9, Unit::hertz), "1.980 GHz");
  EXPECT_EQ(scaled(700, Unit::watts), "700 W");
  EXPECT_EQ(scaled(0.684, Unit::fraction), "68.4 %");
  EXPECT_EQ(scaled(0.0234, Unit::fraction), "2.34 %");
  EXPECT_EQ(scaled(-0.0234, Unit::fraction), "-2.34 %");
}

TEST(ForPeople, UnknownIsADash) {
  EXPECT_EQ(for_people(std::monostate(), Unit::seconds), "-");
  EXPECT_EQ(for_people(std::numeric_limits<double>::quiet_NaN(), Unit::seconds), "-");
  EXPECT_EQ(for_people(std::string(), Unit::none), "-");
  EXPECT_EQ(for_people(std::int64_t{0}, Unit::none), "0");
}

TEST(ForPrograms, NumbersReadBackToTheSameDouble) {
  for (const double value : {0.1, 1e-300, 812.375e-6, 123456789.125, 1.0 / 3.0}) {
    EXPECT_EQ(std::strtod(for_programs(value).c_str(), nullptr), value);
  }
}

TEST(ForPrograms, UnknownAndInfiniteAreEmpty) {
  EXPECT_EQ(for_programs(std::monostate()), "");
  EXPECT_EQ(for_programs(std::numeric_limits<double>::infinity()), "");
  EXPECT_EQ(for_programs(false), "false");
}

TEST(CsvQuoted, QuotesOnlyWhereNeeded) {
  EXPECT_EQ(csv_quoted("plain text"), "plain text");
  EXPECT_EQ(csv_quoted("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_quoted("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_quoted("two\nlines"), "\"two\nlines\"");
}

TEST(Width, CountsCodePoints) { EXPECT_EQ(width("µs"), 2U); }

}  // namespace
}  // namespace roofcal::report
