#include "db/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <limits>

#include "tests/db/fixtures.h"

namespace roofcal {
namespace {

using ::testing::ElementsAre;
using testing::everything;
using testing::gemm_sample;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::must;
using testing::store_all;
using testing::test_run;

class StoreTest : public ::testing::Test {
 protected:
  Store open() { return must(Store::open(file_, Store::Access::write)); }

  // As another program would: SQL on the file. Returns SQLite's complaint.
  std::string sql(const std::string& text) {
    sqlite3* handle = nullptr;
    sqlite3_open(file_.c_str(), &handle);
    char* message = nullptr;
    sqlite3_exec(handle, text.c_str(), nullptr, nullptr, &message);
    std::string out = message == nullptr ? "" : message;
    sqlite3_free(message);
    sqlite3_close(handle);
    return out;
  }

  testing::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "deep/er/store.db";
};

StoredSample full_sample() {
  StoredSample sample = gemm_sample(16, 1.25e-5);
  sample.key.cache = CacheMode::cold;
  sample.count = 40;
  sample.p10_s = 1.2e-5;
  sample.p90_s = 1.3e-5;
  sample.relative_error = 0.0;
  sample.raw_s = {1.2e-5, 0.1 + 0.2, 1.3e-5};
  sample.sm_clock_hz = 1.98e9;
  sample.power_w = 650.5;
  sample.power_limit_w = 700;
  sample.launch_mode = "graph";
  sample.layout = "TN";
  sample.epilogue = "bias";
  sample.batch_count = 1;
  sample.data_fill = "uniform[-1,1]";
  sample.algorithm = "id=66 tile=128x256 stages=4 splitk=1 cluster=2x1";
  sample.flags = "drifted";
  sample.metrics = {{"p99_s", 1.4e-5}, {"waves", 1.5}};
  sample.nodes = 2;
  sample.device = "GPU-4f0c";
  sample.measured_utc = "2026-12-01T14:00:01Z";
  sample.extra = {{"nobody \"foresaw\"", "this,\n\xc3\xa9"}};
  return sample;
}

TEST_F(StoreTest, EveryFieldComesBackAsItWas) {
  roofcal::Run run = test_run("roofcal-microbench");
  run.content_hash = "ab";
  run.gpu = "h200_sxm";
  run.ended_utc = "2026-12-01T14:10:00Z";
  run.extra = {{"driver", "580.1"}, {"topology", "NV18"}};
  Store store = open();
  EXPECT_EQ(store_all(store, run, {full_sample()}).stored, 1);
  const auto got = everything(store);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].first, run);
  EXPECT_EQ(got[0].second, full_sample());
  EXPECT_THAT(must(store.check()), IsEmpty());
}

TEST_F(StoreTest, SamplesOfOtherKindsThanAnOperator) {
  StoredSample serving;
  serving.kind = "serving";
  serving.key.op = "meta-llama/Llama-3.1-70B";
  serving.key.gpu = "h200_sxm";
  serving.key.framework = "vllm";
  serving.key.attributes = {{"tp", "4"}, {"topology", "node"}};
  serving.sizes = {{"concurrency", 64}, {"isl", 1024}};
  serving.time = Seconds(0.02);
  serving.metrics = {{"ttft_p50_s", 0.3}};
  StoredSample kernel = serving;
  kernel.kind = "kernel";
  kernel.key.op = "sm90_xmma_gemm_bf16";
  Store store = open();
  EXPECT_EQ(store_all(store, test_run(), {serving, kernel, gemm_sample(1, 1e-5)}).stored, 3);
  const auto got = everything(store);
  EXPECT_EQ(got[0].second, serving);
  EXPECT_EQ(got[1].second, kernel);
  EXPECT_EQ(must(store.classes({})).size(), 1U) << "only operators are fitted";
  EXPECT_EQ(must(store.info()).classes, 3);
}

TEST_F(StoreTest, IdenticalSamplesCountOnceAndRepeatsAreKept) {
  Store store = open();
  const auto first = store_all(store, test_run(), {gemm_sample(1, 1e-5), gemm_sample(1, 1e-5), gemm_sample(1, 1.1e-5)});
  EXPECT_EQ(first.stored, 2);
  EXPECT_EQ(first.already_there, 1);
  roofcal::Run again = test_run();
  again.origin = "another file of that source";
  EXPECT_EQ(store_all(store, again, {gemm_sample(1, 1e-5)}).already_there, 1);
  EXPECT_EQ(store_all(store, test_run("another source"), {gemm_sample(1, 1e-5)}).stored, 1);
  EXPECT_EQ(must(store.info()).runs, 2) << "a run that brings nothing new is not stored";
  EXPECT_EQ(must(store.info()).samples, 3);
  EXPECT_THAT(must(store.check()), IsEmpty());
}

TEST_F(StoreTest, SamplesOfAClassAreOrderedAndFitWorthy) {
  StoredSample failed = gemm_sample(3, 1e-5);
  failed.flags = "failed";
  StoredSample throttled = gemm_sample(3, 1e-5);
  throttled.flags = "drifted,throttled";
  StoredSample drifted = gemm_sample(2, 1e-5);
  drifted.flags = "drifted";
  Store store = open();
  store_all(store, test_run(), {gemm_sample(9, 2e-5), failed, throttled, gemm_sample(9, 1e-5), drifted});
  std::vector<std::pair<std::int64_t, double>> got;
  for (const Sample& sample : must(store.samples(drifted.key))) got.emplace_back(sample.shape[0], sample.time.value());
  EXPECT_THAT(got, ElementsAre(std::pair(2, 1e-5), std::pair(9, 1e-5), std::pair(9, 2e-5)));
  ClassKey other = drifted.key;
  other.kernel = "no such kernel";
  EXPECT_THAT(must(store.samples(other)), IsEmpty());
}

TEST_F(StoreTest, ClassesAreFiltered) {
  StoredSample other = gemm_sample(1, 1e-5);
  other.key.gpu = "b200_sxm";
  other.key.framework = "vllm";
  other.key.kernel = "cutlass";
  Store store = open();
  store_all(store, test_run(), {gemm_sample(1, 1e-5), gemm_sample(2, 1e-5), other});
  const auto count = [&](const ClassFilter& filter) { return must(store.classes(filter)).size(); };
  EXPECT_EQ(count({}), 2U);
  EXPECT_EQ(count({"h200_sxm", "", "", "", ""}), 1U);
  EXPECT_EQ(count({"", "gemm", "", "", ""}), 2U);
  EXPECT_EQ(count({"", "moe", "", "", ""}), 0U);
  EXPECT_EQ(count({"", "", "vllm", "", ""}), 1U);
  EXPECT_EQ(count({"", "", "", "2.0", ""}), 0U);
  EXPECT_EQ(count({"", "", "", "", "cutlass"}), 1U);
  const auto all = must(store.classes({}));
  EXPECT_EQ(all[0].key, other.key);  // ordered by key
  EXPECT_EQ(all[1].samples, 2);
}

TEST_F(StoreTest, RunsOfOneTransactionOneForEachGpu) {
  StoredSample other = gemm_sample(1, 1e-5);
  other.key.gpu = "b200_sxm";
  Store store = open();
  store_all(store, test_run(), {gemm_sample(1, 1e-5), other, gemm_sample(2, 1e-5)});
  const auto got = everything(store);
  EXPECT_EQ(got[0].first.gpu, "h200_sxm");
  EXPECT_EQ(got[1].first.gpu, "b200_sxm");
  EXPECT_EQ(got[2].first.gpu, "h200_sxm");
  EXPECT_EQ(must(store.info()).runs, 2);
  EXPECT_THAT(must(store.check()), IsEmpty());
}

TEST_F(StoreTest, AnErrorOfTheProducerLeavesNothing) {
  Store store = open();
  const auto outcome = store.add_run(test_run(), [](const Store::SampleSink& sink) -> Result<void> {
    if (auto stored = sink(gemm_sample(1, 1e-5)); !stored) return stored;
    return Error{ErrorCode::bad_data, "the file ends here"};
  });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "the file ends here");
  EXPECT_EQ(must(store.info()).samples, 0);
  EXPECT_EQ(must(store.info()).classes, 0);
  EXPECT_EQ(store_all(store, test_run(), {gemm_sample(1, 1e-5)}).stored, 1);
}

TEST_F(StoreTest, SamplesThatNoReaderCouldMakeSenseOfAreRefused) {
  Store store = open();
  const auto complaint = [&](const auto& spoil) {
    StoredSample sample = gemm_sample(1, 1e-5);
    spoil(sample);
    const auto outcome = store.add_run(test_run(), [&](const Store::SampleSink& sink) { return sink(sample); });
    return outcome ? "stored" : outcome.error().message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(complaint([](auto& s) { s.time = Seconds(0.0); }), HasSubstr("not positive"));
  EXPECT_THAT(complaint([&](auto& s) { s.time = Seconds(nan); }), HasSubstr("not positive"));
  EXPECT_THAT(complaint([](auto& s) { s.key.op = "conv"; }), HasSubstr("'conv' is not known"));
  EXPECT_THAT(complaint([](auto& s) { s.key.gpu = ""; }), HasSubstr("needs"));
  EXPECT_THAT(complaint([](auto& s) { s.key.attributes.clear(); }), HasSubstr("needs dtype"));
  EXPECT_THAT(complaint([](auto& s) { s.key.attributes["x"] = "y"; }), HasSubstr("does not know"));
  EXPECT_THAT(complaint([](auto& s) { s.shape = {1, 2}; }), HasSubstr("3 sizes, not 2"));
  EXPECT_THAT(complaint([](auto& s) { s.shape = {0, 2, 3}; }), HasSubstr("m 0 is outside"));
  EXPECT_THAT(complaint([](auto& s) { s.sizes = {{"m", 1}}; }), HasSubstr("in its shape"));
  EXPECT_THAT(complaint([](auto& s) { s.key.kernel = "\xff"; }), HasSubstr("kernel is not UTF-8"));
  EXPECT_THAT(complaint([](auto& s) { s.algorithm = std::string("a\0b", 3); }), HasSubstr("NUL"));
  EXPECT_THAT(complaint([&](auto& s) { s.p10_s = nan; }), HasSubstr("p10_s"));
  EXPECT_THAT(complaint([&](auto& s) { s.raw_s = {nan}; }), HasSubstr("raw_s"));
  EXPECT_THAT(complaint([&](auto& s) { s.metrics = {{"x", nan}}; }), HasSubstr("x nan"));
  EXPECT_THAT(complaint([](auto& s) { s.extra = {{"x", "\xff"}}; }), HasSubstr("x is not UTF-8"));
  EXPECT_EQ(must(store.info()).samples, 0);
}

TEST_F(StoreTest, AppendOnlyForEveryProgram) {
  {
    Store store = open();
    store_all(store, test_run(), {full_sample()});
  }
  EXPECT_THAT(sql("UPDATE samples SET time_s = 1"), HasSubstr("append-only"));
  EXPECT_THAT(sql("DELETE FROM samples"), HasSubstr("append-only"));
  EXPECT_THAT(sql("UPDATE runs SET origin = 'x'"), HasSubstr("append-only"));
  EXPECT_THAT(sql("DELETE FROM runs"), HasSubstr("append-only"));
  EXPECT_THAT(sql("UPDATE classes SET op = 'x'"), HasSubstr("append-only"));
  EXPECT_THAT(sql("DELETE FROM run_digests"), HasSubstr("append-only"));
  EXPECT_THAT(sql("INSERT INTO samples(run_id, class_id, hash, shape, time_s) VALUES(1, 1, x'00', '{}', 'soon')"),
              HasSubstr("cannot store TEXT"))
      << "tables are STRICT";
}

TEST_F(StoreTest, CheckFindsWhatWasChangedBehindItsBack) {
  struct Case {
    const char* change;
    const char* finding;
  };
  const Case cases[] = {
      {"DROP TRIGGER samples_update; UPDATE samples SET time_s = time_s * 0.99 WHERE id = 2", "sample 2: differs"},
      {"DROP TRIGGER samples_update; UPDATE samples SET epilogue = NULL WHERE id = 1", "sample 1: differs"},
      {"DROP TRIGGER samples_update; UPDATE samples SET raw_s = substr(raw_s, 1, 8) WHERE id = 1", "sample 1: differs"},
      {"DROP TRIGGER samples_delete; DELETE FROM samples WHERE id = 2", "run 1: 1 of its 2 samples are there"},
      {"DROP TRIGGER classes_update; UPDATE classes SET kernel = 'another' WHERE id = 1", "sample 1: differs"},
      {"DROP TRIGGER runs_update; UPDATE runs SET extra = '{\"driver\":\"1\"}'", "run 1: its record"},
      {"DROP TRIGGER runs_update; UPDATE runs SET source = 'another'", "run 1: its record"},
      {"DROP TRIGGER run_digests_delete; DELETE FROM run_digests", "run 1: 2 of its 0 samples"},
      {"DROP TRIGGER runs_delete; DELETE FROM runs", "refers to a row of runs that is missing"},
      {"UPDATE calibrations SET blob = x'00'", "calibration 1 of h200_sxm/gemm: differs"},
  };
  for (const Case& tampering : cases) {
    std::filesystem::remove_all(file_.parent_path());
    {
      Store store = open();
      store_all(store, test_run(), {full_sample(), gemm_sample(2, 1e-5)});
      must(store.put_calibration("h200_sxm/gemm", "d", "blob"));
      ASSERT_THAT(must(store.check()), IsEmpty());
    }
    ASSERT_EQ(sql(tampering.change), "") << tampering.change;
    const Store store = must(Store::open(file_, Store::Access::read));
    EXPECT_THAT(must(store.check()), ::testing::Contains(HasSubstr(tampering.finding))) << tampering.change;
  }
}

TEST_F(StoreTest, GpusAreReplacedByName) {
  Store store = open();
  must(store.put_gpu("future1", R"({"name":"future1"})"));
  must(store.put_gpu("future1", R"({"name":"future1","v":2})"));
  must(store.put_gpu("future2", "{}"));
  const auto gpus = must(store.gpus());
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus.at("future1"), R"({"name":"future1","v":2})");
  EXPECT_FALSE(store.put_gpu("bad", "no json"));
}

TEST_F(StoreTest, TheLatestCalibrationOfAKeyCounts) {
  Store store = open();
  const std::string bytes("\x1f\x8b\0\xff", 4);
  must(store.put_calibration("h200_sxm/gemm-bfloat16/trtllm/1.0/hot", "one", "old"));
  must(store.put_calibration("h200_sxm/gemm-bfloat16/trtllm/1.0/hot", "two", bytes));
  must(store.put_calibration("h200_sxm/moe-fp8-yes/vllm/2.0/hot", "three", "moe"));
  must(store.put_calibration("b200_sxm/gemm-fp8//1.0/hot", "four", "b"));
  const auto keys = [&](const ClassFilter& filter) {
    std::vector<std::string> out;
    for (const auto& one : must(store.latest_calibrations(filter))) out.push_back(one.digest);
    return out;
  };
  EXPECT_THAT(keys({}), ElementsAre("four", "two", "three"));
  EXPECT_THAT(keys({"h200_sxm", "gemm", "", "", ""}), ElementsAre("two"));
  EXPECT_THAT(keys({"", "", "vllm", "2.0", ""}), ElementsAre("three"));
  EXPECT_THAT(keys({"", "ge", "", "", ""}), IsEmpty());
  const auto found = must(store.latest_calibrations({"h200_sxm", "gemm", "", "", ""}));
  EXPECT_EQ(found[0].blob, bytes);
  EXPECT_EQ(found[0].key, "h200_sxm/gemm-bfloat16/trtllm/1.0/hot");
  EXPECT_THAT(found[0].created_utc, ::testing::MatchesRegex("....-..-..T..:..:..Z"));
  EXPECT_EQ(must(store.info()).calibrations, 4) << "older ones stay";
}

TEST_F(StoreTest, SamplesOfAnOperatorOfALaterVersionAreSaid) {
  {
    Store store = open();
    store_all(store, test_run(), {gemm_sample(1, 1e-5)});
  }
  ASSERT_EQ(
      sql("INSERT INTO classes(id, op, gpu, framework, version, kernel, attributes, cache) VALUES(7, 'conv', 'g', "
          "'', '', '', '{}', 'hot'); INSERT INTO samples(run_id, class_id, hash, shape, time_s) VALUES(1, 7, "
          "x'01', '{\"r\":3}', 1.0)"),
      "");
  const Store store = must(Store::open(file_, Store::Access::read));
  const auto classes = must(store.classes({}));
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_THAT(store.samples(classes[0].key).error().message, HasSubstr("'conv', which this version does not know"));
  EXPECT_EQ(must(store.samples(classes[1].key)).size(), 1U);
}

TEST(DefaultStorePath, FollowsTheEnvironment) {
  setenv("ROOFCAL_DB", "/a/b.db", 1);
  EXPECT_EQ(default_store_path(), "/a/b.db");
  unsetenv("ROOFCAL_DB");
  setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(default_store_path(), "/data/roofcal/roofcal.db");
  unsetenv("XDG_DATA_HOME");
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(default_store_path(), "/home/me/.local/share/roofcal/roofcal.db");
  unsetenv("HOME");
  EXPECT_TRUE(default_store_path().is_absolute()) << "the home of the system's own list of users";
}

}  // namespace
}  // namespace roofcal
