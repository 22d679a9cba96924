// Several processes on one store, and one that is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "tests/db/fixtures.h"

namespace roofcal {
namespace {

using testing::gemm_sample;
using ::testing::IsEmpty;
using testing::must;
using testing::test_run;

constexpr int kSamples = 20'000;

// In a process of its own; its exit status says whether all went well.
template <class Work>
pid_t start(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

bool store_many(const std::filesystem::path& file, int first, int last, int killed_at = -1) {
  auto store = Store::open(file, Store::Access::write);
  if (!store) {
    std::cerr << store.error().message << '\n';
    return false;
  }
  const auto outcome = store->add_run(test_run(), [&](const Store::SampleSink& sink) -> Result<void> {
    for (int i = first; i < last; ++i) {
      if (i == killed_at) raise(SIGKILL);
      if (auto stored = sink(gemm_sample(i, 1e-5)); !stored) return stored;
    }
    return {};
  });
  if (!outcome) std::cerr << outcome.error().message << '\n';
  return outcome.ok();
}

class Processes : public ::testing::Test {
 protected:
  std::int64_t samples() const { return must(must(Store::open(file_, Store::Access::read)).info()).samples; }
  void expect_sound() const { EXPECT_THAT(must(must(Store::open(file_, Store::Access::read)).check()), IsEmpty()); }

  testing::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "store.db";
};

TEST_F(Processes, WritersAtOnceLoseNothing) {
  // No store is there yet: they race to make it, too. Two of them overlap.
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(start([&] { return store_many(file_, 1 + i * 1000, 1 + i * 1000 + 2000); }));
  }
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(samples(), 5000);
  expect_sound();
}

TEST_F(Processes, ManyMakeOneStore) {
  for (int round = 0; round < 8; ++round) {
    file_ = folder_ / ("store" + std::to_string(round));
    std::vector<pid_t> children;
    for (int i = 1; i <= 6; ++i) children.push_back(start([&] { return store_many(file_, i, i + 1); }));
    for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
    EXPECT_EQ(samples(), 6);
  }
}

TEST_F(Processes, ReadersGoOnWhileAnotherWrites) {
  ASSERT_TRUE(store_many(file_, 1, 101));
  const Store reader = must(Store::open(file_, Store::Access::read));
  const pid_t writer = start([&] { return store_many(file_, 101, kSamples); });
  int status = 0;
  while (waitpid(writer, &status, WNOHANG) == 0) {
    const auto seen = must(reader.info()).samples;
    EXPECT_TRUE(seen == 100 || seen == kSamples - 1) << seen;
  }
  EXPECT_EQ(status, 0);
  EXPECT_EQ(must(reader.info()).samples, kSamples - 1);
}

TEST_F(Processes, KilledAmongItsRowsLeavesNothingOfThem) {
  ASSERT_TRUE(store_many(file_, 1, 101));
  const pid_t child = start([&] { return store_many(file_, 101, kSamples, kSamples - 1); });
  EXPECT_TRUE(WIFSIGNALED(status_of(child)));
  EXPECT_EQ(samples(), 100);
  expect_sound();
  ASSERT_TRUE(store_many(file_, 101, 201)) << "and the next import goes on";
  EXPECT_EQ(samples(), 200);
}

TEST_F(Processes, KilledAtAnyMomentLeavesAllOrNothing) {
  int next = 1;
  for (int i = 0; i < 12; ++i) {
    const auto before = i == 0 ? 0 : samples();
    const pid_t child = start([&] { return store_many(file_, next, next + 2000); });
    std::this_thread::sleep_for(std::chrono::milliseconds(4 * i));
    kill(child, SIGKILL);
    status_of(child);
    ASSERT_TRUE(Store::open(file_, Store::Access::write)) << "a store that was being made is made";
    const auto after = samples();
    EXPECT_TRUE(after == before || after == before + 2000) << before << " " << after;
    next += 2000;
  }
  expect_sound();
}

}  // namespace
}  // namespace roofcal
