#include "cli/quantities.h"

#include <gtest/gtest.h>

#include <limits>

namespace roofcal::cli {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(ParseSize, BinaryAndDecimalUnitsDiffer) {
  EXPECT_EQ(parse_size("64MiB").value(), 64LL << 20);
  EXPECT_EQ(parse_size("64MB").value(), 64'000'000);
  EXPECT_EQ(parse_size("1GB").value(), 1'000'000'000);
  EXPECT_EQ(parse_size("1GiB").value(), 1LL << 30);
  EXPECT_EQ(parse_size("1.5 kB").value(), 1500);
  EXPECT_EQ(parse_size("1kib").value(), 1024);
  EXPECT_EQ(parse_size("4096").value(), 4096);
  EXPECT_EQ(parse_size("4096B").value(), 4096);
  EXPECT_EQ(parse_size("2^20").value(), 1LL << 20);
  EXPECT_EQ(parse_size("0").value(), 0);
}

TEST(ParseSize, RejectsWhatIsNoSize) {
  for (const char* text : {"", "MiB", "-1", "-1MiB", "0.3B", "64 furlongs", "1e30GB", "inf", "nan", "1 2", "0x10"}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_EQ(size.error().code, ErrorCode::usage);
    EXPECT_NE(size.error().message.find("'" + std::string(text) + "'"), std::string::npos);
  }
}

TEST(ParseTime, Units) {
  EXPECT_DOUBLE_EQ(parse_time("30ms").value().value(), 0.03);
  EXPECT_DOUBLE_EQ(parse_time("2.5 s").value().value(), 2.5);
  EXPECT_DOUBLE_EQ(parse_time("2.5").value().value(), 2.5);
  EXPECT_DOUBLE_EQ(parse_time("800us").value().value(), 800e-6);
  EXPECT_DOUBLE_EQ(parse_time("800\u00b5s").value().value(), 800e-6);
  EXPECT_DOUBLE_EQ(parse_time("100ns").value().value(), 100e-9);
  EXPECT_DOUBLE_EQ(parse_time("5min").value().value(), 300.0);
  EXPECT_DOUBLE_EQ(parse_time("2h").value().value(), 7200.0);
}

TEST(ParseTime, RejectsWhatIsNoTime) {
  for (const char* text : {"", "-1ms", "ms", "3 parsecs", "1e400s", "nan"}) EXPECT_FALSE(parse_time(text).ok()) << text;
}

TEST(ParseCount, PlainNumbersAndPowersOnly) {
  EXPECT_EQ(parse_count("4096").value(), 4096);
  EXPECT_EQ(parse_count(" -3 ").value(), -3);
  EXPECT_EQ(parse_count("2^12").value(), 4096);
  EXPECT_EQ(parse_count("10^3").value(), 1000);
  for (const char* text : {"", "4k", "4.0", "1e3", "2^", "^2", "1^5", "2^64", "99999999999999999999", "64MiB"}) {
    EXPECT_FALSE(parse_count(text).ok()) << text;
  }
}

TEST(ParseCounts, Lists) {
  EXPECT_EQ(parse_counts("7").value(), (Numbers{7}));
  EXPECT_EQ(parse_counts("1,2,4").value(), (Numbers{1, 2, 4}));
  EXPECT_EQ(parse_counts("4, 1 ,4").value(), (Numbers{4, 1, 4}));
  EXPECT_EQ(parse_counts("1,8:10,2^4").value(), (Numbers{1, 8, 9, 10, 16}));
  for (const char* text : {"1,", ",1", "1,,2", ","}) EXPECT_FALSE(parse_counts(text).ok()) << text;
}

TEST(ParseCounts, Ranges) {
  EXPECT_EQ(parse_counts("1:4").value(), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(parse_counts("1:64:8").value(), (Numbers{1, 9, 17, 25, 33, 41, 49, 57}));
  EXPECT_EQ(parse_counts("8:64:8").value().back(), 64);
  EXPECT_EQ(parse_counts("5:5").value(), (Numbers{5}));
  EXPECT_EQ(parse_counts("-2:2:2").value(), (Numbers{-2, 0, 2}));
  for (const char* text : {"4:1", "1:4:0", "1:4:-1", "1:4:1:1", ":4", "1:"})
    EXPECT_FALSE(parse_counts(text).ok()) << text;
}

TEST(ParseCounts, Powers) {
  EXPECT_EQ(parse_counts("2^0:2^3").value(), (Numbers{1, 2, 4, 8}));
  EXPECT_EQ(parse_counts("2^0:2^15").value().size(), 16U);
  EXPECT_EQ(parse_counts("2^0:2^15").value().back(), 32768);
  EXPECT_EQ(parse_counts("2^0:2^6:2").value(), (Numbers{1, 4, 16, 64}));
  EXPECT_EQ(parse_counts("10^1:10^3").value(), (Numbers{10, 100, 1000}));
  for (const char* text : {"2^0:3^2", "2^3:2^0", "2^0:2^63"}) EXPECT_FALSE(parse_counts(text).ok()) << text;
}

TEST(ParseCounts, TooManyValuesAreRefusedBeforeTheyAreMade) {
  EXPECT_FALSE(parse_counts("1:9223372036854775807").ok());
  EXPECT_FALSE(parse_counts("-9223372036854775808:9223372036854775807").ok());
  EXPECT_FALSE(parse_counts("1:600000,1:600000").ok());
  EXPECT_EQ(parse_counts("9223372036854775806:9223372036854775807").value().size(), 2U);
}

TEST(ParseSizes, RangesTakeUnits) {
  EXPECT_EQ(parse_sizes("1KiB,64MiB").value(), (Numbers{1024, 64LL << 20}));
  EXPECT_EQ(parse_sizes("1MiB:3MiB:1MiB").value(), (Numbers{1LL << 20, 2LL << 20, 3LL << 20}));
  EXPECT_EQ(parse_sizes("2^10:2^12").value(), (Numbers{1024, 2048, 4096}));
}

}  // namespace
}  // namespace roofcal::cli
