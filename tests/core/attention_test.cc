#include "core/attention.h"

#include <algorithm>

#include "core/mla.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "tests/core/cells_of.h"

namespace roofcal {
namespace {

Attributes types(const char* dtype, const char* kv_dtype) { return {{"dtype", dtype}, {"kv-dtype", kv_dtype}}; }

TEST(CausalPairs, ByHand) {
  EXPECT_EQ(causal_pairs(4, 0, 0), 10.0);  // 1 + 2 + 3 + 4
  EXPECT_EQ(causal_pairs(4, 3, 0), 22.0);  // 4 + 5 + 6 + 7
  EXPECT_EQ(causal_pairs(4, 0, 2), 7.0);   // 1 + 2 + 2 + 2
  EXPECT_EQ(causal_pairs(4, 3, 5), 19.0);  // 4 + 5 + 5 + 5
}

TEST(CausalPairs, AgreesWithCounting) {
  EXPECT_TRUE(rc::check([] {
    const int seq = *rc::gen::inRange(1, 60);
    const int prefix = *rc::gen::inRange(0, 60);
    const int window = *rc::gen::inRange(0, 90);
    double pairs = 0.0;
    for (int i = 0; i < seq; ++i) {
      const int before = prefix + i + 1;
      pairs += window > 0 ? std::min(before, window) : before;
    }
    RC_ASSERT(causal_pairs(seq, prefix, window) == pairs);
  }));
}

// Two sequences of 4 new tokens, 8 heads of 64 on 2 kv heads: queries 512 wide, keys and values together 256.
TEST(ContextAttentionWork, ByHand) {
  const Work work = context_attention_operator().work(types("bfloat16", "bfloat16"), Shape{2, 4, 8, 2, 64, 0, 0});
  EXPECT_EQ(work.flops.value(), 40960.0);          // 4 * 2 * 512 * 10 pairs
  EXPECT_EQ(work.bytes_read.value(), 12288.0);     // 2 * 4 * 2 * (512 + 256)
  EXPECT_EQ(work.bytes_written.value(), 12288.0);  // 2 * 4 * (2 * 512 + 2 * 256)
  EXPECT_EQ(work.rate, Rate::bfloat16);
}

TEST(ContextAttentionWork, APrefixIsReadAtTheSizeOfTheCache) {
  const Work work = context_attention_operator().work(types("bfloat16", "fp8"), Shape{2, 4, 8, 2, 64, 0, 3});
  EXPECT_EQ(work.flops.value(), 90112.0);          // 4 * 2 * 512 * 22 pairs
  EXPECT_EQ(work.bytes_read.value(), 13824.0);     // 12288 + 2 * 3 * 256
  EXPECT_EQ(work.bytes_written.value(), 10240.0);  // 2 * 4 * (2 * 512 + 256)
}

TEST(GenerationAttentionWork, ByHand) {
  const Work work = generation_attention_operator().work(types("bfloat16", "bfloat16"), Shape{2, 100, 8, 2, 64, 0});
  EXPECT_EQ(work.flops.value(), 409600.0);        // 4 * 2 * 512 * 100
  EXPECT_EQ(work.bytes_read.value(), 104448.0);   // 2 * (2 * 512 + 100 * 256 * 2)
  EXPECT_EQ(work.bytes_written.value(), 3072.0);  // 2 * (2 * 512 + 2 * 256)
  EXPECT_EQ(work.rate, Rate::bfloat16);
}

TEST(GenerationAttentionWork, AWindowCutsTheCacheAndFp8HalvesIt) {
  const Work work = generation_attention_operator().work(types("bfloat16", "fp8"), Shape{2, 100, 8, 2, 64, 10});
  EXPECT_EQ(work.flops.value(), 40960.0);      // 4 * 2 * 512 * 10
  EXPECT_EQ(work.bytes_read.value(), 7168.0);  // 2 * (2 * 512 + 10 * 256)
  EXPECT_EQ(work.rate, Rate::fp8);
}

TEST(AttentionTables, TheKeyValueLengthOfADecodeRowIsIslPlusStep) {
  const Cells cells = cells_of({{"batch_size", "4"},
                                {"isl", "1"},
                                {"step", "4095"},
                                {"num_heads", "32"},
                                {"num_key_value_heads", "8"},
                                {"head_dim", "128"},
                                {"beam_width", "1"},
                                {"attn_dtype", "bfloat16"},
                                {"kv_cache_dtype", "fp8"}});
  const auto decode = generation_attention_operator().from_table(cells);
  ASSERT_TRUE(decode) << decode.error().message;
  EXPECT_EQ(decode->shape, (Shape{4, 4096, 32, 8, 128, 0}));
  EXPECT_EQ(decode->attributes, types("bfloat16", "fp8"));
  const auto prefill = context_attention_operator().from_table(cells);
  ASSERT_TRUE(prefill) << prefill.error().message;
  EXPECT_EQ(prefill->shape, (Shape{4, 1, 32, 8, 128, 0, 4095}));
}

TEST(AttentionTables, HeadsThatDoNotDivideAndBeamSearchAreRejected) {
  std::map<std::string, std::string, std::less<>> row{{"batch_size", "4"},           {"isl", "8"},
                                                      {"num_heads", "32"},           {"num_key_value_heads", "5"},
                                                      {"head_dim", "128"},           {"attn_dtype", "bfloat16"},
                                                      {"kv_cache_dtype", "bfloat16"}};
  const auto heads = context_attention_operator().from_table(cells_of(row));
  ASSERT_FALSE(heads);
  EXPECT_THAT(heads.error().message, testing::HasSubstr("heads 32 is not a multiple of kv-heads 5"));
  row["num_key_value_heads"] = "8";
  row["beam_width"] = "4";
  const auto beams = context_attention_operator().from_table(cells_of(row));
  ASSERT_FALSE(beams);
  EXPECT_THAT(beams.error().message, testing::HasSubstr("beam_width 4"));
}

TEST(ContextMlaWork, ByHand) {
  const Work work = context_mla_operator().work(types("bfloat16", "bfloat16"), Shape{1, 4, 16, 0});
  EXPECT_EQ(work.flops.value(), 102400.0);         // 2 * 16 * (192 + 128) * 10 pairs
  EXPECT_EQ(work.bytes_read.value(), 65536.0);     // 4 * 16 * 2 * (192 + 192 + 128)
  EXPECT_EQ(work.bytes_written.value(), 20992.0);  // 4 * (16 * 2 * 128 + 2 * 576)
}

TEST(GenerationMlaWork, ByHand) {
  const Work work = generation_mla_operator().work(types("bfloat16", "bfloat16"), Shape{2, 100, 16});
  EXPECT_EQ(work.flops.value(), 6963200.0);        // 2 * 2 * 16 * (576 + 512) * 100
  EXPECT_EQ(work.bytes_read.value(), 267264.0);    // 2 * (100 * 576 * 2 + 16 * 576 * 2)
  EXPECT_EQ(work.bytes_written.value(), 32768.0);  // 2 * 16 * 512 * 2
}

}  // namespace
}  // namespace roofcal
