#include "report/table.h"

#include <gtest/gtest.h>

#include "tests/report/example.h"

namespace roofcal::report {
namespace {

TEST(Card, OneLineAColumnAndListsBelow) {
  Report report = testing::example(true);
  report.heading = "what was asked";
  EXPECT_EQ(card(report),
            "what was asked\n"
            "\n"
            "name         a, \"quoted\" name\n"
            "time         812.4 us\n"
            "share        68.4 %\n"
            "only people  seen\n"
            "ok           yes\n"
            "counts       measured 2, interpolated 3\n"
            "warnings     one\n"
            "             two\n"
            "\n"
            "points\n"
            "  distance      time\n"
            "  ------------------\n"
            "    0.5000         -\n"
            "     1.250  2.000 us\n");
}

TEST(Grid, AlignsNumbersRightAndTextLeft) {
  Report report;
  report.columns = {{"name", "name"}, {"time_s", "time", Unit::seconds}, {"empty", "empty"}};
  report.records = {{"long name", 1e-6, {}}, {"x", 123.4e-6, {}}};
  report.footer = Record{"total", 124.4e-6, {}};
  EXPECT_EQ(grid(report),
            "name           time\n"
            "-------------------\n"
            "long name  1.000 us\n"
            "x          123.4 us\n"
            "-------------------\n"
            "total      124.4 us\n");
}

TEST(Grid, WithoutRecordsOnlyTheHeadingRemains) {
  Report report;
  report.columns = {{"a", "a"}, {"b", "b"}};
  EXPECT_EQ(grid(report), "a  b\n----\n");
}

TEST(Markdown, EscapesBars) {
  Report report;
  report.columns = {{"name", "name"}, {"n", "n"}};
  report.records = {{"a|b", std::int64_t{3}}};
  EXPECT_EQ(markdown(report), "| name | n |\n|---|---:|\n| a\\|b | 3 |\n");
}

TEST(Markdown, KeepsEmptyColumnsWhenAsked) {
  Report report;
  report.columns = {{"name", "name"}, {"n", "n"}};
  report.records = {{"a", {}}};
  EXPECT_EQ(markdown(report), "| name |\n|---|\n| a |\n");
  EXPECT_EQ(markdown(report, EmptyColumns::keep), "| name | n |\n|---|---|\n| a | - |\n");
}

}  // namespace
}  // namespace roofcal::report
