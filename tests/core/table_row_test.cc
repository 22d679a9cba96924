#include "core/table_row.h"

#include <array>

#include "gtest/gtest.h"
#include "tests/core/cells_of.h"

namespace roofcal {
namespace {

std::optional<std::int64_t> parse_level(std::string_view text) {
  if (text == "low") return 0;
  if (text == "high") return 1;
  return std::nullopt;
}
std::string print_level(std::int64_t value) { return value == 0 ? "low" : "high"; }

class Reader final : public Operator {
 public:
  std::string_view name() const override { return "reader"; }
  std::string_view help() const override { return "for tests"; }
  std::span<const Field> fields() const override {
    static constexpr std::array<Field, 3> fields{{
        {"seq", 1, 1000, std::nullopt, "tokens"},
        {"prefix", 0, 1000, 5, "cached tokens"},
        {"level", 0, 1, 0, "low or high", parse_level, print_level},
    }};
    return fields;
  }
  std::span<const AttributeField> attributes() const override {
    static constexpr std::array<AttributeField, 1> attributes{{{"dtype", "bfloat16", "format", canonical_dtype}}};
    return attributes;
  }
  Work work(const Attributes& /*attributes*/, const Shape& /*shape*/) const override { return {}; }
  std::span<const std::string_view> table_names() const override { return {}; }
  Result<Call> from_table(const Cells& /*cells*/) const override { return Call{}; }
};

TEST(TableRow, ReadsColumnsUnderOtherNames) {
  const Reader reader;
  const Cells cells = cells_of({{"isl", "12"}, {"attn_dtype", "fp8"}, {"grade", "high"}});
  TableRow row(reader, cells);
  row.field("seq", "isl");
  row.field("level", "grade");
  row.attribute("dtype", "attn_dtype");
  const auto call = std::move(row).call();
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->shape, (Shape{12, 5, 1}));
  EXPECT_EQ(call->attributes.at("dtype"), "fp8");
}

TEST(TableRow, AbsentColumnsAndEmptyCellsTakeTheGivenValue) {
  const Reader reader;
  const Cells cells = cells_of({{"isl", "12"}, {"step", ""}});
  TableRow row(reader, cells);
  row.field("seq", "isl");
  row.field("prefix", "step", 0);
  row.field("level", "grade", 1);  // a value that is written as a word
  row.attribute("dtype", "attn_dtype", "float16");
  const auto call = std::move(row).call();
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->shape, (Shape{12, 0, 1}));
  EXPECT_EQ(call->attributes.at("dtype"), "float16");
}

TEST(TableRow, ComputedValuesAreCheckedAgainstTheDomain) {
  const Reader reader;
  const Cells cells = cells_of({{"isl", "900"}, {"step", "101"}});
  TableRow row(reader, cells);
  row.set("seq", row.number("isl") + row.number("step"));
  row.set("level", 1);
  const auto call = std::move(row).call();
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().code, ErrorCode::bad_data);
  EXPECT_EQ(call.error().message, "seq 1001 is outside 1 .. 1000");
}

TEST(TableRow, KeepsTheFirstComplaintAndNamesTheTablesColumn) {
  const Reader reader;
  const Cells cells = cells_of({{"isl", "0"}, {"step", "x"}, {"empty", ""}});
  TableRow first(reader, cells);
  first.field("seq", "isl");
  first.field("prefix", "step");
  EXPECT_EQ(std::move(first).call().error().message, "isl: seq 0 is outside 1 .. 1000");

  TableRow number(reader, cells);
  EXPECT_EQ(number.number("step"), 0);
  EXPECT_EQ(std::move(number).call().error().message, "step 'x' is not a whole number");

  TableRow empty(reader, cells);
  empty.field("seq", "empty");
  EXPECT_EQ(std::move(empty).call().error().message, "empty is empty");

  TableRow missing(reader, cells);
  missing.attribute("dtype", "attn_dtype");
  missing.field("seq", "sequence");
  missing.field("prefix", "empty");
  const auto lacking = std::move(missing).call();
  EXPECT_EQ(lacking.error().code, ErrorCode::missing_column);
  EXPECT_EQ(lacking.error().message, "attn_dtype, sequence: no such column");
}

TEST(TableRow, NumbersMayBeAbsent) {
  const Reader reader;
  const Cells cells = cells_of({{"isl", "12"}});
  TableRow row(reader, cells);
  row.field("seq", "isl");
  EXPECT_EQ(row.number("step", 3), 3);
  EXPECT_TRUE(std::move(row).call());
}

}  // namespace
}  // namespace roofcal
