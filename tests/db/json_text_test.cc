#include "db/json_text.h"

#include <gtest/gtest.h>

namespace roofcal {
namespace {

TEST(JsonText, ShapesInTheOrderOfTheirFields) {
  const ShapeText gemm(*find_operator("gemm"));
  EXPECT_EQ(gemm.write({1, 22, 333}), R"({"m":1,"n":22,"k":333})");
  EXPECT_EQ(*gemm.read(R"({"m":1,"n":22,"k":333})"), (Shape{1, 22, 333}));
}

TEST(JsonText, EveryOperatorsShapesReadBack) {
  for (const Operator* op : all_operators()) {
    const ShapeText text(*op);
    for (const bool largest : {false, true}) {
      Shape shape(op->fields().size());
      for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = largest ? op->fields()[i].max : op->fields()[i].min;
      const auto read = text.read(text.write(shape));
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(*read, shape) << op->name();
    }
  }
}

TEST(JsonText, AShapeOfAnotherVersionIsReadByName) {
  const ShapeText gemm(*find_operator("gemm"));
  EXPECT_EQ(*gemm.read(R"({ "k": 333, "n": 22, "m": 1, "later": 5 })"), (Shape{1, 22, 333}));
  const ShapeText attention(*find_operator("context_attention"));
  const auto fields = find_operator("context_attention")->fields();
  std::string text;
  for (const Field& field : fields) {
    if (!field.fallback) text += (text.empty() ? "{\"" : ",\"") + std::string(field.name) + "\":2";
  }
  const auto read = attention.read(text + "}");
  ASSERT_TRUE(read) << read.error().message;
  for (std::size_t i = 0; i < fields.size(); ++i) EXPECT_EQ((*read)[i], fields[i].fallback.value_or(2));
}

TEST(JsonText, DamagedShapesAreErrors) {
  const ShapeText gemm(*find_operator("gemm"));
  for (const char* text : {"", "[1,2,3]", R"({"m":1,"n":22})", R"({"m":0,"n":22,"k":3})", R"({"m":1,"n":22,"k":3)",
                           R"({"m":1,"n":22,"k":"three"})", R"({"m":1,"n":22,"k":99999999999999999999})"}) {
    EXPECT_FALSE(gemm.read(text)) << text;
  }
}

TEST(JsonText, MapsReadBack) {
  const std::map<std::string, std::string> texts{{"a\"b", "c\\d\n"}, {"", "\xc3\xa9"}};
  std::map<std::string, std::string> read;
  ASSERT_TRUE(read_json(json_text(texts), read));
  EXPECT_EQ(read, texts);
  EXPECT_EQ(json_text(texts), "{\"\":\"\xc3\xa9\",\"a\\\"b\":\"c\\\\d\\n\"}");
  EXPECT_EQ(json_text(std::map<std::string, std::string>{}), "{}");
  const std::map<std::string, double> figures{{"a", 0.1}, {"b", -0.0}, {"c", 1e300}};
  std::map<std::string, double> numbers;
  ASSERT_TRUE(read_json(json_text(figures), numbers));
  EXPECT_EQ(numbers, figures);
  EXPECT_FALSE(read_json(R"({"a":"text"})", numbers));
  EXPECT_FALSE(read_json("[]", read));
  EXPECT_FALSE(read_json("{", read));
}

TEST(JsonText, Utf8) {
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("\xc3\xa9\xe2\x82\xac"));
  EXPECT_FALSE(is_utf8("\xff"));
  EXPECT_FALSE(is_utf8("cut \xc3"));
}

}  // namespace
}  // namespace roofcal
