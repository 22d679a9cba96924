#include "db/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/fixtures.h"

namespace roofcal {
namespace {

using testing::everything;
using testing::gemm_sample;
using testing::must;
using testing::store_all;
using testing::test_run;

class MergeTest : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
  Store a_ = must(Store::open(folder_ / "a.db", Store::Access::write));
  Store b_ = must(Store::open(folder_ / "b.db", Store::Access::write));
};

TEST_F(MergeTest, BringsWhatIsNewWithItsRunAndOnlyOnce) {
  roofcal::Run of_b = test_run("microbench");
  of_b.gpu = "h200_sxm";
  of_b.extra = {{"host", "node7"}};
  StoredSample device = gemm_sample(1, 1e-5);
  device.device = "GPU-1";
  StoredSample other_device = device;
  other_device.device = "GPU-2";
  store_all(a_, test_run("microbench"), {gemm_sample(3, 1e-5)});
  store_all(b_, of_b, {device, other_device, gemm_sample(3, 1e-5)});
  must(b_.put_gpu("future1", "{}"));
  must(b_.put_calibration("h200_sxm/gemm/x/1/hot", "d", "blob"));

  const MergeOutcome first = must(merge(a_, b_));
  EXPECT_EQ(first.samples, 2) << "rows of each device";
  EXPECT_EQ(first.already_there, 1);
  EXPECT_EQ(first.runs, 1);
  EXPECT_EQ(first.gpus, 1);
  EXPECT_EQ(first.calibrations, 1);
  EXPECT_EQ(everything(a_).back().first, of_b);
  EXPECT_THAT(must(a_.check()), ::testing::IsEmpty());

  const MergeOutcome again = must(merge(a_, b_));
  EXPECT_EQ(again.samples + again.runs + again.gpus + again.calibrations, 0);
  EXPECT_EQ(again.already_there, 3);
}

TEST_F(MergeTest, WhatIsThereStays) {
  must(a_.put_gpu("future1", R"({"mine":1})"));
  must(a_.put_calibration("h200_sxm/gemm/x/1/hot", "mine", "blob"));
  must(b_.put_gpu("future1", R"({"theirs":1})"));
  must(b_.put_calibration("h200_sxm/gemm/x/1/hot", "theirs", "blob"));
  const MergeOutcome outcome = must(merge(a_, b_));
  EXPECT_EQ(outcome.gpus + outcome.calibrations, 0);
  EXPECT_EQ(must(a_.gpus()).at("future1"), R"({"mine":1})");
  EXPECT_EQ(must(a_.latest_calibrations({})).at(0).digest, "mine");
}

TEST_F(MergeTest, TheOrderDoesNotMatterForWhatIsFitted) {
  store_all(a_, test_run(), {gemm_sample(3, 1e-5), gemm_sample(1, 2e-5)});
  store_all(b_, test_run(), {gemm_sample(2, 1e-5), gemm_sample(1, 1e-5)});
  Store one = must(Store::open(folder_ / "one.db", Store::Access::write));
  Store two = must(Store::open(folder_ / "two.db", Store::Access::write));
  must(merge(one, a_));
  must(merge(one, b_));
  must(merge(two, b_));
  must(merge(two, a_));
  const auto flat = [](const Store& store) {
    std::vector<std::pair<Shape, Seconds>> out;
    for (const Sample& sample : must(store.samples(gemm_sample(1, 1).key))) out.emplace_back(sample.shape, sample.time);
    return out;
  };
  EXPECT_EQ(flat(one), flat(two));
  EXPECT_EQ(flat(one).size(), 4U);
}

}  // namespace
}  // namespace roofcal
