#include "cli/error_figures.h"

#include <gtest/gtest.h>

namespace roofcal::cli {
namespace {

Answer answer(double time, double lo, double hi, Provenance provenance) {
  Answer out;
  out.time = Seconds(time);
  out.lo = Seconds(lo);
  out.hi = Seconds(hi);
  out.provenance = provenance;
  return out;
}

double number(const report::Record& record, std::string_view key) {
  const auto columns = ErrorFigures::columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].key == key) return std::get<double>(record[i]);
  }
  ADD_FAILURE() << key;
  return 0.0;
}

TEST(ErrorFigures, ByHand) {
  ErrorFigures figures;
  figures.add(answer(1.1, 0.9, 1.3, Provenance::interpolated), Seconds(1.0));  // +10 %, covered
  figures.add(answer(1.6, 1.5, 1.7, Provenance::extrapolated), Seconds(2.0));  // -20 %, not covered
  figures.add(answer(4.0, 3.0, 5.0, Provenance::interpolated), Seconds(4.0));  // 0, covered
  figures.add_unanswered(2);
  const auto record = figures.record();
  EXPECT_EQ(figures.answered(), 3);
  EXPECT_NEAR(number(record, "mape"), 0.1, 1e-12);
  EXPECT_NEAR(number(record, "median_ape"), 0.1, 1e-12);
  EXPECT_NEAR(number(record, "p90_ape"), 0.18, 1e-12);
  EXPECT_NEAR(number(record, "p95_ape"), 0.19, 1e-12);
  EXPECT_NEAR(number(record, "max_ape"), 0.2, 1e-12);
  EXPECT_NEAR(number(record, "bias"), -0.1 / 3.0, 1e-12);
  EXPECT_NEAR(number(record, "coverage90"), 2.0 / 3.0, 1e-12);
  EXPECT_NEAR(number(record, "halfwidth90"), (0.2 / 1.1 + 0.1 / 1.6 + 0.25) / 3.0, 1e-12);
  const auto counts = std::get<std::shared_ptr<const report::Object>>(record[9]);
  ASSERT_EQ(counts->columns.size(), 2U);
  EXPECT_EQ(counts->columns[0].key, "interpolated");
  EXPECT_EQ(std::get<std::int64_t>(counts->values[0]), 2);
  EXPECT_EQ(std::get<std::int64_t>(record[10]), 2);
}

TEST(ErrorFigures, WithoutAnAnswerTheFiguresAreUnknown) {
  ErrorFigures figures;
  figures.add_unanswered(7);
  const auto record = figures.record();
  EXPECT_EQ(std::get<std::int64_t>(record[0]), 0);
  for (std::size_t i = 1; i < 9; ++i) EXPECT_TRUE(std::holds_alternative<std::monostate>(record[i])) << i;
  EXPECT_EQ(std::get<std::int64_t>(record[10]), 7);
}

TEST(ErrorFigures, SumsAreThoseOfAllRows) {
  ErrorFigures a;
  a.add(answer(1.1, 1.0, 1.2, Provenance::interpolated), Seconds(1.0));
  ErrorFigures b;
  b.add(answer(1.3, 1.0, 1.4, Provenance::measured), Seconds(1.0));
  b.add_unanswered(1);
  a.add(b);
  EXPECT_EQ(a.answered(), 2);
  EXPECT_EQ(a.unanswered(), 1);
  EXPECT_NEAR(number(a.record(), "mape"), 0.2, 1e-12);
}

}  // namespace
}  // namespace roofcal::cli
