#include "core/operator.h"

#include <array>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/cells_of.h"

namespace roofcal {
namespace {

using testing::HasSubstr;

std::optional<std::int64_t> parse_colour(std::string_view text) {
  if (text == "red") return 1;
  if (text == "blue") return 2;
  return std::nullopt;
}
std::string print_colour(std::int64_t value) { return value == 1 ? "red" : "blue"; }

std::optional<std::string> canonical_side(std::string_view text) {
  if (text == "left" || text == "right") return std::string(text);
  return std::nullopt;
}

/// An operator that has one of everything: defaults, named values, a dtype that follows another, a joint condition.
class Paint final : public Operator {
 public:
  std::string_view name() const override { return "paint"; }
  std::string_view help() const override { return "for tests"; }
  std::span<const Field> fields() const override {
    static constexpr std::array<Field, 3> fields{{
        {"wall-width", 1, 100, std::nullopt, "metres"},
        {"coats", 0, 9, 2, "how often"},
        {"colour", 1, 2, 1, "red or blue", parse_colour, print_colour},
    }};
    return fields;
  }
  std::span<const AttributeField> attributes() const override {
    static constexpr std::array<AttributeField, 3> attributes{{
        {"dtype", "bfloat16", "number format", canonical_dtype},
        {"kv-dtype", "=dtype", "number format of the cache", canonical_dtype},
        {"side", "", "left or right", canonical_side},
    }};
    return attributes;
  }
  Work work(const Attributes& /*attributes*/, const Shape& /*shape*/) const override { return {}; }
  Result<void> check(const Attributes& /*attributes*/, const Shape& shape) const override {
    if (shape[0] == 13) {
      return Error{ErrorCode::usage, "thirteen metres bring bad luck"};
    }
    return {};
  }
  std::span<const std::string_view> table_names() const override { return {}; }
  Result<Call> from_table(const Cells& cells) const override { return parse_call(*this, cells); }
};

TEST(ParseCall, TakesValuesAndDefaults) {
  const auto call = parse_call(Paint(), cells_of({{"wall-width", "7"}, {"side", "left"}, {"dtype", "FP8"}}));
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->shape, (Shape{7, 2, 1}));
  EXPECT_EQ(call->attributes, (Attributes{{"dtype", "fp8"}, {"kv-dtype", "fp8"}, {"side", "left"}}));
}

TEST(ParseCall, AnAttributeOfItsOwnWinsOverTheOneItFollows) {
  const auto call =
      parse_call(Paint(), cells_of({{"wall-width", "7"}, {"side", "left"}, {"kv-dtype", "fp8"}, {"colour", "blue"}}));
  ASSERT_TRUE(call);
  EXPECT_EQ(call->attributes.at("dtype"), "bfloat16");
  EXPECT_EQ(call->attributes.at("kv-dtype"), "fp8");
  EXPECT_EQ(call->shape[2], 2);
}

TEST(ParseCall, EmptyCellsAreAbsentAndZeroIsAValue) {
  const auto call =
      parse_call(Paint(), cells_of({{"wall-width", "7"}, {"side", "left"}, {"coats", ""}, {"dtype", ""}}));
  ASSERT_TRUE(call);
  EXPECT_EQ(call->shape[1], 2);
  const auto none = parse_call(Paint(), cells_of({{"wall-width", "7"}, {"side", "left"}, {"coats", "0"}}));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->shape[1], 0);
}

struct Wrong {
  std::map<std::string, std::string, std::less<>> row;
  const char* says;
};

TEST(ParseCall, ErrorsNameTheFieldAndTheValue) {
  const std::array<Wrong, 9> wrong{{
      {{{"side", "left"}}, "paint needs wall-width (metres)"},
      {{{"wall-width", "7"}}, "paint needs side (left or right)"},
      {{{"wall-width", "seven"}, {"side", "left"}}, "wall-width 'seven' is not a whole number"},
      {{{"wall-width", "7.5"}, {"side", "left"}}, "wall-width '7.5' is not a whole number"},
      {{{"wall-width", "0"}, {"side", "left"}}, "wall-width 0 is outside 1 .. 100"},
      {{{"wall-width", "99999999999999999999"}, {"side", "left"}}, "wall-width '99999999999999999999'"},
      {{{"wall-width", "7"}, {"side", "up"}}, "side 'up' is not known (left or right)"},
      {{{"wall-width", "7"}, {"side", "left"}, {"colour", "green"}}, "colour 'green' is not known (red or blue)"},
      {{{"wall-width", "13"}, {"side", "left"}}, "thirteen metres bring bad luck"},
  }};
  for (const Wrong& each : wrong) {
    const auto call = parse_call(Paint(), cells_of(each.row));
    ASSERT_FALSE(call) << each.says;
    EXPECT_EQ(call.error().code, ErrorCode::usage);
    EXPECT_THAT(call.error().message, HasSubstr(each.says));
  }
}

TEST(ParseField, KeepsTheEdgesOfTheDomain) {
  const Field& width = Paint().fields()[0];
  EXPECT_EQ(*parse_field(width, "1"), 1);
  EXPECT_EQ(*parse_field(width, "100"), 100);
  EXPECT_FALSE(parse_field(width, "101"));
  EXPECT_FALSE(parse_field(width, "-1"));
  EXPECT_FALSE(parse_field(width, ""));
  EXPECT_FALSE(parse_field(width, " 7"));
  EXPECT_FALSE(parse_field(width, "7 "));
  EXPECT_FALSE(parse_field(width, "0x10"));
}

TEST(PrintField, IsTheInverseOfParseField) {
  for (const Field& field : Paint().fields()) {
    for (const std::int64_t value : {field.min, field.max}) {
      const auto parsed = parse_field(field, print_field(field, value));
      ASSERT_TRUE(parsed) << field.name;
      EXPECT_EQ(*parsed, value);
    }
  }
}

TEST(CacheModes, ReadAsTheyArePrinted) {
  for (const CacheMode mode : {CacheMode::hot, CacheMode::cold}) {
    EXPECT_EQ(parse_cache_mode(to_string(mode)), mode);
  }
  EXPECT_EQ(parse_cache_mode("warm"), std::nullopt);
}

TEST(Shapes, CompareByTheirSizes) {
  EXPECT_EQ((Shape{1, 2}), (Shape{1, 2}));
  EXPECT_NE((Shape{1, 2}), (Shape{1, 2, 0}));
  EXPECT_LT((Shape{1, 2}), (Shape{1, 3}));
  EXPECT_EQ((Shape{4, 5, 6}).values().size(), 3U);
}

TEST(Operators, AreFoundByTheirUniqueNames) {
  std::set<std::string_view> names;
  for (const Operator* op : all_operators()) {
    EXPECT_TRUE(names.insert(op->name()).second) << op->name();
    EXPECT_EQ(find_operator(op->name()), op);
    EXPECT_FALSE(op->help().empty());
    EXPECT_LE(op->fields().size(), kMaxFields);
  }
  EXPECT_NE(find_operator("gemm"), nullptr);
  EXPECT_EQ(find_operator("jemm"), nullptr);
}

TEST(Operators, DescribeSoundFieldsAndAttributes) {
  for (const Operator* op : all_operators()) {
    for (const Field& field : op->fields()) {
      EXPECT_LE(field.min, field.max) << op->name() << " " << field.name;
      EXPECT_EQ(field.parse == nullptr, field.print == nullptr) << op->name() << " " << field.name;
      if (field.fallback) {
        EXPECT_LE(field.min, *field.fallback) << op->name() << " " << field.name;
        EXPECT_GE(field.max, *field.fallback) << op->name() << " " << field.name;
      }
    }
    std::set<std::string_view> before;
    for (const AttributeField& attribute : op->attributes()) {
      ASSERT_NE(attribute.canonical, nullptr) << op->name() << " " << attribute.name;
      if (attribute.fallback.starts_with('=')) {  // parse_call looks it up among those listed before
        EXPECT_TRUE(before.contains(attribute.fallback.substr(1))) << op->name() << " " << attribute.name;
      } else if (!attribute.fallback.empty()) {
        EXPECT_EQ(attribute.canonical(attribute.fallback), std::string(attribute.fallback))
            << op->name() << " " << attribute.name;
      }
      before.insert(attribute.name);
    }
  }
}

}  // namespace
}  // namespace roofcal
