#include "report/json.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/report/example.h"

namespace roofcal::report {
namespace {

TEST(ToJson, KeysKeepTheOrderOfTheColumns) {
  const auto json = to_json(testing::example(true));
  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"name", "time_s", "share", "for_programs", "ok", "counts", "warnings",
                                            "points"}));
}

TEST(ToJson, ASingleRecordIsAnObjectSeveralAreAnArray) {
  EXPECT_TRUE(to_json(testing::example(true)).is_object());
  const auto several = to_json(testing::example(false));
  ASSERT_TRUE(several.is_array());
  EXPECT_EQ(several.size(), 2U);
}

TEST(ToJson, AnEnvelopeHoldsTheListAndItsTotals) {
  Report report = testing::example(false);
  report.list_key = "files";
  report.envelope = {{{"stored", "stored"}}, {std::int64_t{5}}};
  const auto json = to_json(report);
  EXPECT_EQ(json["files"].size(), 2U);
  EXPECT_EQ(json["stored"], 5);
  EXPECT_EQ(json.size(), 2U);
}

TEST(ToJson, UnknownIsNullNeverNaN) {
  EXPECT_TRUE(to_json(Value()).is_null());
  EXPECT_TRUE(to_json(Value(std::numeric_limits<double>::quiet_NaN())).is_null());
  EXPECT_TRUE(to_json(Value(std::numeric_limits<double>::infinity())).is_null());
  EXPECT_EQ(to_json(Value(0.0)), 0.0);
}

TEST(ToJson, DoublesKeepEveryDigit) {
  const double value = 0.1 + 0.2;
  const auto text = dumped(to_json(Value(value)), -1);
  EXPECT_EQ(nlohmann::json::parse(text).get<double>(), value);
}

TEST(ToJson, NestedRecordsAndCounts) {
  const auto json = to_json(testing::example(true));
  EXPECT_EQ(json["points"].size(), 2U);
  EXPECT_TRUE(json["points"][0]["time_s"].is_null());
  EXPECT_EQ(json["points"][1]["time_s"], 2e-6);
  EXPECT_EQ(json["counts"]["interpolated"], 3);
  EXPECT_EQ(json["warnings"], (std::vector<std::string>{"one", "two"}));
}

TEST(Dumped, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_NO_THROW({
    const auto text = dumped(to_json(Value(std::string("bad \xFF name"))), -1);
    EXPECT_EQ(text, "\"bad \xEF\xBF\xBD name\"");
  });
}

}  // namespace
}  // namespace roofcal::report
