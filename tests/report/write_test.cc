#include "report/write.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/report/example.h"

namespace roofcal::report {
namespace {

std::string written(const Report& report, Format format) {
  std::ostringstream out;
  write(report, format, out);
  return out.str();
}

TEST(ParseFormat, KnowsTheFiveNames) {
  EXPECT_EQ(parse_format("table"), Format::table);
  EXPECT_EQ(parse_format("json"), Format::json);
  EXPECT_EQ(parse_format("jsonl"), Format::jsonl);
  EXPECT_EQ(parse_format("csv"), Format::csv);
  EXPECT_EQ(parse_format("md"), Format::md);
  EXPECT_EQ(parse_format("xml"), std::nullopt);
}

TEST(Write, CsvHasKeysInSiAndNoLists) {
  EXPECT_EQ(written(testing::example(false), Format::csv),
            "name,time_s,share,for_programs,ok,counts,warnings\n"
            "\"a, \"\"quoted\"\" name\",0.000812375,0.684,7,true,measured=2;interpolated=3,one; two\n"
            "b,,,8,false,,\n");
}

TEST(Write, JsonLinesAreOneRecordALine) {
  std::istringstream lines(written(testing::example(false), Format::jsonl));
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    EXPECT_TRUE(nlohmann::json::parse(line).is_object());
    ++count;
  }
  EXPECT_EQ(count, 2);
}

TEST(Write, EveryFormatPrintsTheSameRecords) {
  const Report report = testing::example(false);
  EXPECT_EQ(nlohmann::json::parse(written(report, Format::json)).size(), 2U);
  EXPECT_NE(written(report, Format::table).find("812.4 us"), std::string::npos);
  EXPECT_NE(written(report, Format::md).find("| 812.4 us |"), std::string::npos);
}

TEST(RecordStream, WritesWhatWriteWrites) {
  const Report report = testing::example(false);
  std::vector<Column> columns(report.columns.begin(), report.columns.end() - 1);
  for (const Format format : {Format::csv, Format::jsonl}) {
    Report whole;
    whole.columns = columns;
    std::ostringstream out;
    RecordStream stream(columns, format, out);
    for (const Record& record : report.records) {
      const Record shorter(record.begin(), record.end() - 1);
      whole.records.push_back(shorter);
      stream.add(shorter);
    }
    EXPECT_EQ(out.str(), written(whole, format));
  }
}

}  // namespace
}  // namespace roofcal::report
