#include "core/collective.h"

#include "core/memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/cells_of.h"

namespace roofcal {
namespace {

Work work_of(const char* collective, const char* ranks, std::int64_t bytes) {
  return collective_operator().work({{"collective", collective}, {"ranks", ranks}, {"topology", "node"}}, Shape{bytes});
}

TEST(BusFactors, AreThoseOfNcclTests) {
  EXPECT_EQ(bus_factor("all_reduce", 8), 1.75);
  EXPECT_EQ(bus_factor("all_gather", 8), 0.875);
  EXPECT_EQ(bus_factor("reduce_scatter", 4), 0.75);
  EXPECT_EQ(bus_factor("all_to_all", 2), 0.5);
  EXPECT_EQ(bus_factor("send_recv", 2), 1.0);
}

TEST(CollectiveWork, ByHand) {
  EXPECT_EQ(work_of("all_gather", "8", 8000).link_bytes.value(), 7000.0);
  EXPECT_EQ(work_of("all_gather", "8", 8000).bytes_read.value(), 1000.0);
  EXPECT_EQ(work_of("all_gather", "8", 8000).bytes_written.value(), 8000.0);
  EXPECT_EQ(work_of("reduce_scatter", "8", 8000).bytes_written.value(), 1000.0);
  EXPECT_EQ(work_of("send_recv", "2", 8000).link_bytes.value(), 8000.0);
}

TEST(CollectiveWork, AnAllReduceIsBoundByTheBetterOfRingAndSwitch) {
  EXPECT_EQ(work_of("all_reduce", "2", 8000).link_bytes.value(), 8000.0);  // ring: 2 * 1/2; in the switch: 1 + 1/2
  EXPECT_EQ(work_of("all_reduce", "8", 8000).link_bytes.value(), 9000.0);  // ring: 2 * 7/8; in the switch: 1 + 1/8
}

TEST(CollectiveTables, MessageSizesCountElements) {
  const auto call = collective_operator().from_table(
      cells_of({{"nccl_dtype", "half"}, {"num_gpus", "4"}, {"message_size", "1000"}, {"op_name", "alltoall"}}));
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->shape, Shape{2000});
  EXPECT_EQ(call->framework, "nccl") << "whoever called it";
  EXPECT_EQ(call->attributes, (Attributes{{"collective", "all_to_all"}, {"ranks", "4"}, {"topology", "node"}}));
}

TEST(CollectiveTables, OneRankIsNoCollective) {
  const auto call = collective_operator().from_table(
      cells_of({{"nccl_dtype", "half"}, {"num_gpus", "1"}, {"message_size", "1000"}, {"op_name", "all_reduce"}}));
  ASSERT_FALSE(call);
  EXPECT_THAT(call.error().message, testing::HasSubstr("ranks '1'"));
}

TEST(MemoryWork, IsItsBytes) {
  const Work work = memory_operator().work({}, Shape{300, 100});
  EXPECT_EQ(work.flops.value(), 0.0);
  EXPECT_EQ(work.bytes_read.value(), 300.0);
  EXPECT_EQ(work.bytes_written.value(), 100.0);
  EXPECT_FALSE(memory_operator().check({}, Shape{0, 0}));
  EXPECT_TRUE(memory_operator().check({}, Shape{0, 1}));
}

}  // namespace
}  // namespace roofcal
