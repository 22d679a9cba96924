// Whole runs on a simulated GPU, through Google Benchmark into a store on disk.
#include "microbench/campaign.h"

#include <benchmark/benchmark.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "db/catalogue.h"
#include "microbench/resume.h"
#include "tests/microbench/simulated_device.h"

namespace roofcal::microbench {
namespace {

namespace fs = std::filesystem;

class CampaignTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("roofcal_campaign_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    catalogue_ = GpuCatalogue::load(catalogue_folder()).value();
    options_.cases = suite_cases(Suite::quick, device_.facts(), "");
    options_.cases.resize(60);
    options_.version = "0.1.0";
    options_.command_line = "roofcal-microbench --suite quick";
  }
  void TearDown() override { fs::remove_all(folder_); }

  Store open() { return Store::open(folder_ / "store.db", Store::Access::write).value(); }
  Result<CampaignSummary> run(Store& store) {
    return run_campaign(device_, store, catalogue_, options_, false, [](const CampaignProgress&) {});
  }
  // Ids of what was timed, by how often.
  std::map<std::string, int> timed(const Store& store) {
    std::map<std::string, int> out;
    EXPECT_TRUE(store
                    .for_each({},
                              [&](const roofcal::Run&, const StoredSample& sample) -> Result<void> {
                                if (sample.kind != kCheckKind && sample.kind != kSentinelKind &&
                                    sample.kind != kCeilingKind) {
                                  ++out[sample.extra.at("case")];
                                }
                                return {};
                              })
                    .ok());
    return out;
  }

  fs::path folder_;
  SimulatedDevice device_;
  GpuCatalogue catalogue_;
  CampaignOptions options_;
};

TEST_F(CampaignTest, measures_every_case_once_in_shuffled_order_with_sentinels) {
  Store store = open();
  const auto summary = run(store);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->measured, 60u);
  EXPECT_EQ(summary->gpu, "h200_sxm");
  const auto found = timed(store);
  EXPECT_EQ(found.size(), 60u);
  for (const auto& [id, count] : found) EXPECT_EQ(count, 1) << id;
  const std::string sentinel = case_id(sentinel_case());
  EXPECT_EQ(std::ranges::count(device_.prepared, sentinel), 4);  // 60 / 25 rounded up, and one at the end
  std::vector<std::string> order;
  std::ranges::copy_if(device_.prepared, std::back_inserter(order), [&](const auto& id) { return id != sentinel; });
  std::vector<std::string> listed;
  for (const auto& one : options_.cases) listed.push_back(case_id(one));
  EXPECT_NE(order, listed);
  EXPECT_EQ(summary->worst_drift, 0.0);
  EXPECT_TRUE(store.check().value().empty());
}

TEST_F(CampaignTest, provenance_is_with_every_sample) {
  Store store = open();
  ASSERT_TRUE(run(store).ok());
  int seen = 0;
  ASSERT_TRUE(store
                  .for_each({},
                            [&](const roofcal::Run& run, const StoredSample&) -> Result<void> {
                              ++seen;
                              EXPECT_EQ(run.source, "roofcal-microbench");
                              EXPECT_EQ(run.origin, "roofcal-microbench --suite quick");
                              EXPECT_FALSE(run.started_utc.empty());
                              EXPECT_FALSE(run.ended_utc.empty());
                              for (const char* name :
                                   {"gpu_uuid", "gpu_name", "driver", "cuda_runtime", "cublaslt", "host", "clock_mode",
                                    "data_fill", "campaign", "seed", "roofcal_version"}) {
                                EXPECT_TRUE(run.extra.contains(name)) << name;
                              }
                              return {};
                            })
                  .ok());
  EXPECT_GT(seen, 60);
}

TEST_F(CampaignTest, resume_goes_on_with_what_is_missing) {
  Store store = open();
  device_.fail_after_bursts = 300;
  const auto first = run(store);
  ASSERT_FALSE(first.ok());
  EXPECT_NE(first.error().message.find("cudaErrorIllegalAddress"), std::string::npos);
  const auto before = timed(store);
  ASSERT_GT(before.size(), 3u);
  ASSERT_LT(before.size(), 60u);

  device_.fail_after_bursts = -1;
  options_.resume = true;
  options_.order_seed = 2;
  const auto second = run(store);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second->already_done, before.size());
  EXPECT_EQ(second->measured, 60u - before.size());
  for (const auto& [id, count] : timed(store)) EXPECT_EQ(count, 1) << id;
  EXPECT_EQ(timed(store).size(), 60u);

  const auto third = run(store);
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(third->measured, 0u);
  EXPECT_EQ(third->already_done, 60u);
}

TEST_F(CampaignTest, without_resume_a_second_run_repeats) {
  Store store = open();
  device_.time_factor = [](int burst) { return 1.0 + 1e-6 * burst; };
  ASSERT_TRUE(run(store).ok());
  ASSERT_TRUE(run(store).ok());
  for (const auto& [id, count] : timed(store)) EXPECT_EQ(count, 2) << id;
}

TEST_F(CampaignTest, another_driver_is_another_campaign) {
  GpuFacts other = simulated_facts();
  other.details["driver"] = "590.1";
  EXPECT_NE(campaign_id(other, ClockMode::as_shipped, "random"),
            campaign_id(simulated_facts(), ClockMode::as_shipped, "random"));
  EXPECT_NE(campaign_id(simulated_facts(), ClockMode::fixed_clock, "random"),
            campaign_id(simulated_facts(), ClockMode::as_shipped, "random"));
}

// A process killed in the middle of a run has stored every sample that it finished before.
TEST_F(CampaignTest, kill_9_loses_no_finished_sample) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Store store = open();
    int prepared = 0;
    device_.on_prepare = [&] {
      if (++prepared == 20) raise(SIGKILL);
    };
    (void)run(store);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  Store store = open();
  // 19 were finished: one of them is the sentinel.
  EXPECT_EQ(timed(store).size(), 18u);
  EXPECT_TRUE(store.check().value().empty());
  options_.resume = true;
  const auto rest = run(store);
  ASSERT_TRUE(rest.ok()) << rest.error().message;
  EXPECT_EQ(rest->already_done, 18u);
  EXPECT_EQ(timed(store).size(), 60u);
}

TEST_F(CampaignTest, the_budget_ends_it_and_says_what_was_not_reached) {
  Store store = open();
  options_.budget = Seconds(0.5);
  const auto summary = run(store);
  ASSERT_TRUE(summary.ok());
  EXPECT_GT(summary->measured, 0u);
  EXPECT_GT(summary->not_reached, 0u);
  EXPECT_EQ(summary->measured + summary->not_reached, 60u);
  EXPECT_LT(summary->took.value(), 2.0);
}

TEST_F(CampaignTest, wrong_and_skipped_are_counted_with_reasons) {
  Store store = open();
  device_.wrong.insert(case_id(options_.cases[50]));
  device_.unsupported.insert(case_id(options_.cases[51]));
  const auto summary = run(store);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->wrong, 1u);
  EXPECT_EQ(summary->skipped, 1u);
  EXPECT_EQ(summary->measured, 58u);
  ASSERT_EQ(summary->skip_reasons.size(), 1u);
  EXPECT_EQ(summary->wrong_cases.size(), 1u);
  // Neither is among what fits see.
  EXPECT_FALSE(timed(store).contains(case_id(options_.cases[50])));
  // A wrong one is settled for --resume, one without a kernel is asked again.
  options_.resume = true;
  EXPECT_EQ(run(store)->skipped, 1u);
}

TEST_F(CampaignTest, drift_is_seen_by_the_sentinel_and_flags_what_follows) {
  Store store = open();
  device_.time_factor = [](int burst) { return burst < 600 ? 1.0 : 1.15; };
  const auto summary = run(store);
  ASSERT_TRUE(summary.ok());
  EXPECT_NEAR(summary->worst_drift.value(), 0.15, 0.01);
  int drifted = 0;
  int straight = 0;
  ASSERT_TRUE(store
                  .for_each({},
                            [&](const roofcal::Run&, const StoredSample& sample) -> Result<void> {
                              if (sample.kind == kCheckKind) return {};
                              (sample.flags.find("drifted") != std::string::npos ? drifted : straight) += 1;
                              return {};
                            })
                  .ok());
  EXPECT_GT(drifted, 0);
  EXPECT_GT(straight, 0);
}

TEST_F(CampaignTest, the_kernel_map_is_stored_without_timing) {
  Store store = open();
  options_.cases = map_cases(90);
  options_.cases.resize(5000);
  const auto mapped = map_kernels(device_, store, catalogue_, options_, [](const CampaignProgress&) {});
  ASSERT_TRUE(mapped.ok()) << mapped.error().message;
  EXPECT_EQ(*mapped, 5000u);
  EXPECT_EQ(device_.bursts, 0);
  std::set<std::string> algorithms;
  ASSERT_TRUE(store
                  .for_each({},
                            [&](const roofcal::Run&, const StoredSample& sample) -> Result<void> {
                              EXPECT_EQ(sample.kind, kMapKind);
                              algorithms.insert(sample.algorithm);
                              return {};
                            })
                  .ok());
  EXPECT_EQ(algorithms, (std::set<std::string>{"id=1 tile=1", "id=2 tile=2"}));
  EXPECT_TRUE(store.classes({}).value().empty());  // calibration does not take it for times
}

TEST_F(CampaignTest, google_benchmarks_own_flags_and_json_still_work) {
  const std::string json = (folder_ / "out.json").string();
  std::vector<std::string> words{"test", "--benchmark_filter=rms_norm", "--benchmark_out=" + json,
                                 "--benchmark_out_format=json"};
  options_.cases = suite_cases(Suite::quick, device_.facts(), "memory");
  const fs::path db = folder_ / "store.db";
  // In a process of its own: the flags stay set.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(words.size());
    benchmark::Initialize(&argc, argv.data());
    Store store = open();
    _exit(run(store).ok() && argc == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  Store store = open();
  const auto found = timed(store);
  EXPECT_EQ(found.size(), 8u);
  for (const auto& [id, count] : found) EXPECT_NE(id.find("rms_norm"), std::string::npos);
  EXPECT_GT(fs::file_size(json), 1000u);
}

}  // namespace
}  // namespace roofcal::microbench
