#include "core/dtype.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace roofcal {
namespace {

TEST(DType, IsFoundByNameAndAliasInAnyCase) {
  for (const char* name : {"bfloat16", "bf16", "BF16", "BFloat16"}) {
    const DType* dtype = find_dtype(name);
    ASSERT_NE(dtype, nullptr) << name;
    EXPECT_EQ(dtype->name, "bfloat16");
  }
  EXPECT_EQ(find_dtype("fp16")->name, "float16");
  EXPECT_EQ(find_dtype("float8_e4m3fn")->name, "fp8");
  EXPECT_EQ(find_dtype("fp4")->name, "nvfp4");
}

TEST(DType, UnknownNamesAreNotFound) {
  EXPECT_EQ(find_dtype(""), nullptr);
  EXPECT_EQ(find_dtype("fp12"), nullptr);
  EXPECT_EQ(find_dtype("bfloat16 "), nullptr);
}

TEST(DType, NamesAreUniqueAndEachFindsItself) {
  std::set<std::string_view> seen;
  for (const DType& dtype : all_dtypes()) {
    EXPECT_TRUE(seen.insert(dtype.name).second) << dtype.name;
    EXPECT_EQ(find_dtype(dtype.name), &dtype);
    EXPECT_GT(dtype.weight_bytes, 0.0);
    EXPECT_GT(dtype.activation_bytes, 0.0);
    EXPECT_FALSE(dtype.meaning.empty());
  }
}

TEST(DType, BytesCountTheScales) {
  EXPECT_EQ(find_dtype("bfloat16")->weight_bytes, 2.0);
  EXPECT_EQ(find_dtype("fp8")->weight_bytes, 1.0);
  // One fp32 per 1x128 activations and per 128x128 weights.
  EXPECT_EQ(find_dtype("fp8_block")->activation_bytes, 1.03125);
  EXPECT_EQ(find_dtype("fp8_block")->weight_bytes, 1.000244140625);
  // 4 bits and one fp8 per 16 values.
  EXPECT_EQ(find_dtype("nvfp4")->weight_bytes, 0.5625);
}

TEST(DType, MultipliesAtThePeakOfItsNarrowestUnit) {
  EXPECT_EQ(find_dtype("fp8_block")->rate, Rate::fp8);
  EXPECT_EQ(find_dtype("nvfp4")->rate, Rate::fp4);
  EXPECT_EQ(find_dtype("int4_wo")->rate, Rate::bfloat16);  // weights are widened before they are multiplied
  EXPECT_EQ(to_string(Rate::bfloat16), "bfloat16");
  EXPECT_EQ(to_string(Rate::int8), "int8");
}

}  // namespace
}  // namespace roofcal
