#include "core/moe.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "tests/core/cells_of.h"

namespace roofcal {
namespace {

Work work_of(const char* gated, const Shape& shape) {
  return moe_operator().work({{"dtype", "bfloat16"}, {"gated", gated}}, shape);
}

// 64 tokens to 2 of 8 experts, 32 wide, 16 inside: 128 assignments, matrices of 512 elements.
TEST(MoeWork, ByHand) {
  const Work work = work_of("yes", Shape{64, 32, 16, 8, 2, 1, 1, 0});
  EXPECT_EQ(work.flops.value(), 393216.0);        // 2 * 128 * 3 * 512
  EXPECT_EQ(work.bytes_read.value(), 28672.0);    // 8 * 3 * 512 * 2 of weights, 64 * 32 * 2 of activations
  EXPECT_EQ(work.bytes_written.value(), 4096.0);  // 64 * 32 * 2
}

TEST(MoeWork, RanksShareItOut) {
  const Work whole = work_of("yes", Shape{64, 32, 16, 8, 2, 1, 1, 0});
  EXPECT_EQ(work_of("yes", Shape{64, 32, 16, 8, 2, 1, 2, 0}).flops.value(), whole.flops.value() / 2.0);
  EXPECT_EQ(work_of("yes", Shape{64, 32, 16, 8, 2, 2, 1, 0}).flops.value(), whole.flops.value() / 2.0);
  EXPECT_EQ(work_of("no", Shape{64, 32, 16, 8, 2, 1, 1, 0}).flops.value(), whole.flops.value() * 2.0 / 3.0);
}

TEST(MoeWork, FewTokensReadFewExperts) {
  const Work work = work_of("yes", Shape{1, 32, 16, 8, 2, 1, 1, 0});
  EXPECT_EQ(work.bytes_read.value(), 6208.0);  // 2 * 3 * 512 * 2 of weights, 32 * 2 of activations
}

TEST(MoeWork, AnUnevenLoadMakesTheHeaviestRankSlower) {
  const Work even = work_of("yes", Shape{1024, 32, 16, 64, 4, 1, 8, 0});
  const Work uneven = work_of("yes", Shape{1024, 32, 16, 64, 4, 1, 8, 1200});
  EXPECT_GT(uneven.flops, even.flops);
}

TEST(Distributions, ReadAsTheyArePrinted) {
  EXPECT_EQ(parse_distribution("balanced"), 0);
  EXPECT_EQ(parse_distribution("power_law_1.2"), 1200);
  EXPECT_EQ(parse_distribution("power_law_1.01"), 1010);
  EXPECT_EQ(print_distribution(1010), "power_law_1.01");
  for (const std::int64_t alpha : {0, 1, 10, 1000, 1200, 100000}) {
    EXPECT_EQ(parse_distribution(print_distribution(alpha)), alpha);
  }
  for (const char* wrong : {"", "power_law_", "power_law_x", "power_law_-1", "power_law_0", "power_law_1.00001"}) {
    EXPECT_EQ(parse_distribution(wrong), std::nullopt) << wrong;
  }
}

TEST(MoeTables, ReadAnAIConfiguratorRow) {
  const auto call = moe_operator().from_table(cells_of({{"moe_dtype", "fp8_block"},
                                                        {"num_tokens", "128"},
                                                        {"hidden_size", "7168"},
                                                        {"inter_size", "2048"},
                                                        {"topk", "8"},
                                                        {"num_experts", "256"},
                                                        {"moe_tp_size", "1"},
                                                        {"moe_ep_size", "8"},
                                                        {"distribution", "power_law_1.01"},
                                                        {"kernel_source", "moe_torch_flow"}}));
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->shape, (Shape{128, 7168, 2048, 256, 8, 1, 8, 1010}));
  EXPECT_EQ(call->attributes, (Attributes{{"dtype", "fp8_block"}, {"gated", "yes"}}));
}

TEST(MoeTables, SizesThatDoNotFitTogetherAreRejected) {
  const auto complaint = [](const Shape& shape) {
    const auto legal = moe_operator().check({}, shape);
    return legal ? std::string("accepted") : legal.error().message;
  };
  EXPECT_EQ(complaint(Shape{1, 32, 16, 8, 2, 1, 1, 0}), "accepted");
  EXPECT_THAT(complaint(Shape{1, 32, 16, 8, 9, 1, 1, 0}), testing::HasSubstr("topk 9"));
  EXPECT_THAT(complaint(Shape{1, 32, 16, 8, 2, 1, 3, 0}), testing::HasSubstr("not a multiple of ep 3"));
  EXPECT_THAT(complaint(Shape{1, 32, 16, 8, 2, 3, 1, 0}), testing::HasSubstr("not a multiple of tp 3"));
}

RouterQuestion arbitrary_question(std::int64_t least_alpha) {
  RouterQuestion question;
  question.tokens = *rc::gen::inRange<std::int64_t>(1, 3000);
  question.ep = std::int64_t{1} << *rc::gen::inRange(0, 4);
  question.experts = question.ep * *rc::gen::inRange<std::int64_t>(1, 33);
  question.topk = *rc::gen::inRange<std::int64_t>(1, std::min<std::int64_t>(question.experts, 9) + 1);
  question.alpha = *rc::gen::inRange<std::int64_t>(least_alpha, 3000);
  return question;
}

TEST(Router, EveryAssignmentIsHandedOutOnceAndAnExpertSeesATokenOnce) {
  EXPECT_TRUE(rc::check([] {
    const RouterQuestion question = arbitrary_question(1);
    for (const Leftovers leftovers : {Leftovers::any_rank, Leftovers::each_rank}) {
      const auto counts = power_law_counts(question, *rc::gen::inRange<std::uint64_t>(0, 5), leftovers);
      RC_ASSERT(static_cast<std::int64_t>(counts.size()) == question.experts);
      RC_ASSERT(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == question.tokens * question.topk);
      RC_ASSERT(std::ranges::min(counts) >= 0);
      RC_ASSERT(std::ranges::max(counts) <= question.tokens);
    }
  }));
}

TEST(Router, BalancedCountsHandOutEveryAssignment) {
  EXPECT_TRUE(rc::check([] {
    const RouterQuestion question = arbitrary_question(0);
    const auto counts = balanced_counts(question);
    RC_ASSERT(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == question.tokens * question.topk);
    RC_ASSERT(std::ranges::min(counts) >= 0);
  }));
}

TEST(Router, TheHeaviestRankCarriesAtLeastItsShare) {
  EXPECT_TRUE(rc::check([] {
    const RouterQuestion question = arbitrary_question(0);
    const RouterLoad load = RouterSimulator(Leftovers::each_rank).load(question);
    const auto total = static_cast<double>(question.tokens * question.topk);
    RC_ASSERT(load.assignments >= total / static_cast<double>(question.ep) - 1e-6);
    RC_ASSERT(load.assignments <= total + 1e-6);
    RC_ASSERT(load.active_experts <= static_cast<double>(question.experts / question.ep) + 1e-6);
    RC_ASSERT(load.tiles16 >= load.tiles64 && load.tiles64 >= load.tiles128);
  }));
}

TEST(Router, AnswersTheSameTwice) {
  const RouterSimulator simulator(Leftovers::each_rank);
  const RouterQuestion question{1000, 64, 6, 8, 1200};
  const RouterLoad first = simulator.load(question);
  EXPECT_EQ(first.assignments, simulator.load(question).assignments);
  EXPECT_EQ(first.tiles64, RouterSimulator(Leftovers::each_rank).load(question).tiles64);
}

TEST(Router, HeaviestRankByHand) {
  const std::vector<std::int64_t> counts{1, 0, 17, 65, 3, 3};
  const RouterLoad load = heaviest_rank(counts, 3);
  EXPECT_EQ(load.assignments, 82.0);
  EXPECT_EQ(load.active_experts, 2.0);
  EXPECT_EQ(load.heaviest, 65.0);
  EXPECT_EQ(load.tiles16, 7.0);   // 2 + 5
  EXPECT_EQ(load.tiles64, 3.0);   // 1 + 2
  EXPECT_EQ(load.tiles128, 2.0);  // 1 + 1
}

}  // namespace
}  // namespace roofcal
