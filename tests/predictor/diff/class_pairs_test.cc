#include "predictor/diff/class_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofcal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

ClassKey key(std::string framework, std::string version, std::string kernel, std::string dtype = "bfloat16") {
  return {"gemm",
          "h200_sxm",
          std::move(framework),
          std::move(version),
          std::move(kernel),
          {{"dtype", std::move(dtype)}},
          CacheMode::hot};
}

TEST(ClassPairs, EqualClassesStandBesideEachOther) {
  const std::vector<ClassKey> both{key("trtllm", "1", "a"), key("trtllm", "2", "a"), key("vllm", "1", "b")};
  const auto paired = pair_classes(both, both);
  ASSERT_EQ(paired.pairs.size(), 3U);
  for (const ClassPair& pair : paired.pairs) EXPECT_EQ(pair.before, pair.after);
  EXPECT_THAT(paired.only_before, IsEmpty());
}

TEST(ClassPairs, AnotherVersionOfTheSameKernel) {
  const std::vector<ClassKey> before{key("nccl", "2.27.3", "NCCL"), key("nccl", "2.9.1", "NCCL")};
  const std::vector<ClassKey> after{key("nccl", "2.29.2", "NCCL")};
  const auto paired = pair_classes(before, after);
  ASSERT_EQ(paired.pairs.size(), 1U);
  EXPECT_THAT(paired.pairs.front().before, ElementsAre(before[0]));  // 2.27 is newer than 2.9
  EXPECT_THAT(paired.only_before, ElementsAre(before[1]));
}

TEST(ClassPairs, KernelsOfOtherNamesAreTakenTogether) {
  const std::vector<ClassKey> before{key("vllm", "1", "a"), key("vllm", "1", "b"), key("vllm", "1", "c")};
  const std::vector<ClassKey> after{key("vllm", "2", "a"), key("vllm", "2", "d")};
  const auto paired = pair_classes(before, after);
  ASSERT_EQ(paired.pairs.size(), 2U);
  EXPECT_THAT(paired.pairs[0].before, ElementsAre(before[0]));
  EXPECT_THAT(paired.pairs[0].after, ElementsAre(after[0]));
  EXPECT_THAT(paired.pairs[1].before, UnorderedElementsAre(before[1], before[2]));
  EXPECT_THAT(paired.pairs[1].after, ElementsAre(after[1]));
}

TEST(ClassPairs, OneFrameworkAgainstTheOther) {
  const std::vector<ClassKey> before{key("trtllm", "1", "flow"), key("trtllm", "1", "flow", "fp8")};
  const std::vector<ClassKey> after{key("vllm", "9", "linear"), key("sglang", "3", "linear")};
  const auto paired = pair_classes(before, after);
  ASSERT_EQ(paired.pairs.size(), 1U);
  EXPECT_THAT(paired.pairs.front().before, ElementsAre(before[0]));
  EXPECT_THAT(paired.pairs.front().after, ElementsAre(after[0]));  // vllm is preferred to sglang
  EXPECT_THAT(paired.only_before, ElementsAre(before[1]));
  EXPECT_THAT(paired.only_after, ElementsAre(after[1]));
}

TEST(ClassPairs, OtherKindsAndGpusNeverMix) {
  ClassKey elsewhere = key("trtllm", "1", "a");
  elsewhere.gpu = "h100_sxm";
  const auto paired = pair_classes(std::vector{key("trtllm", "1", "a"), key("trtllm", "1", "a", "fp8")},
                                   std::vector{elsewhere, key("trtllm", "1", "a", "nvfp4")});
  EXPECT_THAT(paired.pairs, IsEmpty());
  EXPECT_EQ(paired.only_before.size(), 2U);
  EXPECT_EQ(paired.only_after.size(), 2U);
}

}  // namespace
}  // namespace roofcal
