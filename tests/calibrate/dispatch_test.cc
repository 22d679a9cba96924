#include "calibrate/dispatch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace roofcal {
namespace {

// As the fp8_block GEMMs of one framework choose: by alignment of n and k, then by m.
std::string_view rule(const Shape& shape) {
  if (shape[1] % 64 != 0 || shape[2] % 128 != 0) return "cutlass";
  return shape[0] < 32 ? "flashinfer" : "deepgemm";
}

std::vector<Dispatch::Choice> grid(const std::vector<std::int64_t>& ms) {
  std::vector<Dispatch::Choice> choices;
  for (const std::int64_t m : ms) {
    for (const std::int64_t n : {32, 96, 128, 512, 1056, 4096, 7168}) {
      for (const std::int64_t k : {64, 128, 192, 512, 1024, 7168}) {
        const Shape shape{m, n, k};
        choices.push_back({shape, rule(shape)});
      }
    }
  }
  return choices;
}

TEST(Dispatch, LearnsTheRuleAndAppliesItBetweenTheSamples) {
  const Dispatch dispatch = Dispatch::learn(grid({1, 2, 4, 8, 16, 48, 64, 256, 4096}));
  for (const auto& [shape, kernel] : grid({1, 3, 7, 11, 16, 50, 100, 3000, 9000})) {
    EXPECT_EQ(dispatch.choose(shape), kernel) << shape[0] << " " << shape[1] << " " << shape[2];
  }
}

TEST(Dispatch, OneKernelNeedsNoTree) {
  const std::vector<Dispatch::Choice> choices{{Shape{1, 2, 3}, "only"}, {Shape{4, 5, 6}, "only"}};
  const Dispatch dispatch = Dispatch::learn(choices);
  EXPECT_EQ(dispatch.choose(Shape{9, 9, 9}), "only");
  EXPECT_EQ(dispatch.to_json()["nodes"].size(), 0U);
}

TEST(Dispatch, OrderDoesNotMatter) {
  auto choices = grid({1, 8, 64, 512});
  const auto forward = Dispatch::learn(choices).to_json();
  std::ranges::reverse(choices);
  EXPECT_EQ(Dispatch::learn(choices).to_json(), forward);
}

TEST(Dispatch, ComesBackFromJsonAsItWas) {
  const Dispatch dispatch = Dispatch::learn(grid({1, 8, 64, 512}));
  const auto back = Dispatch::from_json(dispatch.to_json());
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->to_json(), dispatch.to_json());
  EXPECT_EQ(back->choose(Shape{64, 128, 128}), "deepgemm");
}

TEST(Dispatch, RefusesTreesThatLoopOrPointNowhere) {
  auto json = Dispatch::learn(grid({1, 8, 64, 512})).to_json();
  ASSERT_GT(json["nodes"].size(), 2U);
  auto loop = json;
  loop["nodes"][0][2] = 0;
  EXPECT_FALSE(Dispatch::from_json(loop).ok());
  auto nowhere = json;
  nowhere["nodes"][0][3] = 1000;
  EXPECT_FALSE(Dispatch::from_json(nowhere).ok());
  auto unknown = json;
  unknown["nodes"][0][4] = 17;
  EXPECT_FALSE(Dispatch::from_json(unknown).ok());
  EXPECT_FALSE(Dispatch::from_json(nlohmann::json::array()).ok());
}

}  // namespace
}  // namespace roofcal
