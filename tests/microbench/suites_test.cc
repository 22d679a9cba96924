// What is measured: work, memory, time, and the three suites.
#include "microbench/suites.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "db/catalogue.h"
#include "microbench/memory_fit.h"
#include "microbench/memory_kernels.h"
#include "microbench/time_left.h"
#include "tests/microbench/simulated_device.h"

namespace roofcal::microbench {
namespace {

MeasurementCase gemm_case(std::string_view dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  MeasurementCase one = sentinel_case();
  one.kind = std::string(kOperatorSample);
  one.attributes = {{"dtype", std::string(dtype)}};
  one.sizes = {{"m", m}, {"n", n}, {"k", k}};
  return one;
}

TEST(Work, of_a_gemm_is_what_core_counts) {
  const auto work = work_of(gemm_case("bfloat16", 16, 4096, 1024));
  EXPECT_EQ(work.flops.value(), 2.0 * 16 * 4096 * 1024);
  EXPECT_EQ(work.bytes_read.value(), 2.0 * (16 * 1024 + 4096 * 1024));
  EXPECT_EQ(work.bytes_written.value(), 2.0 * 16 * 4096);
}

TEST(Work, of_batches_and_groups_is_that_of_all_products) {
  MeasurementCase batched = gemm_case("bfloat16", 16, 64, 128);
  batched.kind = std::string(kBatchedGemmKind);
  batched.sizes["batch"] = 8;
  EXPECT_EQ(work_of(batched).flops.value(), 8.0 * 2.0 * 16 * 64 * 128);
  EXPECT_EQ(footprint_of(batched).value(), 8.0 * 2.0 * (16 * 128 + 64 * 128 + 16 * 64));
}

TEST(Work, memory_kernels_by_hand) {
  struct Row {
    const char* kernel;
    Sizes sizes;
    double read, written;
  };
  for (const Row& row : {Row{"copy", {{"bytes", 100}}, 100, 100}, Row{"read", {{"bytes", 100}}, 100, 0},
                         Row{"write", {{"bytes", 100}}, 0, 100}, Row{"triad", {{"bytes", 100}}, 200, 100},
                         Row{"rms_norm", {{"rows", 3}, {"hidden", 8}}, 2 * (24 + 8), 48},
                         Row{"silu_and_mul", {{"rows", 3}, {"inter", 8}}, 96, 48},
                         Row{"rotary", {{"tokens", 3}, {"heads", 2}, {"head_dim", 8}}, 96 + 3 * 8 * 4, 96},
                         Row{"residual_add", {{"rows", 3}, {"hidden", 8}}, 96, 48},
                         Row{"embedding_gather", {{"tokens", 3}, {"hidden", 8}, {"vocab", 100}}, 48 + 12, 48},
                         Row{"kv_append", {{"tokens", 3}, {"kv_heads", 2}, {"head_dim", 8}}, 192 + 24, 192}}) {
    const auto one = memory_case(row.kernel, row.sizes, CacheMode::hot);
    ASSERT_TRUE(one.ok()) << one.error().message;
    EXPECT_EQ(work_of(*one).bytes_read.value(), row.read) << row.kernel;
    EXPECT_EQ(work_of(*one).bytes_written.value(), row.written) << row.kernel;
    EXPECT_EQ(shape_of(*one), (Shape{static_cast<std::int64_t>(row.read), static_cast<std::int64_t>(row.written)}));
  }
}

TEST(Work, sizes_that_a_kernel_does_not_have_are_refused) {
  EXPECT_NE(memory_case("memcpy", {}, CacheMode::hot).error().message.find("rms_norm"), std::string::npos);
  EXPECT_NE(memory_case("copy", {}, CacheMode::hot).error().message.find("copy needs bytes"), std::string::npos);
  EXPECT_FALSE(memory_case("copy", {{"bytes", 0}}, CacheMode::hot).ok());
  EXPECT_FALSE(memory_case("copy", {{"bytes", 4}, {"rows", 4}}, CacheMode::hot).ok());
}

TEST(MemoryFit, skips_with_both_figures) {
  const auto one = gemm_case("bfloat16", 16384, 65536, 65536);
  const auto rotation = plan_rotation(CacheMode::hot, footprint_of(one), Bytes(60e6));
  EXPECT_FALSE(reason_not_to_fit(one, rotation, Bytes(130e9)));
  const auto reason = reason_not_to_fit(one, rotation, Bytes(8e9));
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("needs 12.0 GiB"), std::string::npos) << *reason;
  EXPECT_NE(reason->find("7.5 GiB are free"), std::string::npos) << *reason;
}

TEST(MemoryFit, cold_sets_count) {
  const auto one = memory_case("copy", {{"bytes", 1 << 20}}, CacheMode::cold).value();
  const auto rotation = plan_rotation(CacheMode::cold, footprint_of(one), Bytes(60 * 1048576.0));
  EXPECT_GE(memory_needed(one, rotation).value(), 120 * 1048576.0);
}

GpuFacts facts_of(const GpuSpec& spec) {
  GpuFacts facts;
  facts.name = spec.display_name;
  facts.compute_major = spec.compute_capability[0] - '0';
  facts.compute_minor = spec.compute_capability.back() - '0';
  if (spec.compute_capability.size() == 4)
    facts.compute_major = 10 * facts.compute_major + spec.compute_capability[1] - '0';
  facts.l2 = spec.l2;
  return facts;
}

TEST(Suites, take_one_ten_and_sixty_minutes_on_every_generation) {
  const auto catalogue = GpuCatalogue::load(catalogue_folder());
  ASSERT_TRUE(catalogue.ok());
  for (const char* name : {"a100_sxm", "h100_sxm", "h200_sxm", "b200_sxm", "rtx_pro_6000_server"}) {
    const GpuSpec& gpu = *catalogue->spec(name);
    for (const Suite suite : {Suite::quick, Suite::llm, Suite::full}) {
      Seconds sum{};
      const auto cases = suite_cases(suite, facts_of(gpu), "");
      for (const auto& one : cases) sum += expected_case_time(one, gpu, limits_of(suite));
      EXPECT_LE(sum, budget_of(suite)) << name << ' ' << to_string(suite) << ": " << cases.size() << " cases";
      EXPECT_GE(sum, 0.25 * budget_of(suite)) << name << ' ' << to_string(suite) << ": " << cases.size() << " cases";
    }
  }
}

TEST(Suites, hold_each_case_once_and_all_operators) {
  for (const Suite suite : {Suite::quick, Suite::llm, Suite::full}) {
    std::set<std::string> ids;
    std::set<std::string> kernels;
    std::set<std::string> kinds;
    for (const auto& one : suite_cases(suite, simulated_facts(), "")) {
      EXPECT_TRUE(ids.insert(case_id(one)).second) << case_id(one);
      if (one.op == "memory") kernels.insert(one.kernel);
      kinds.insert(one.op);
    }
    EXPECT_EQ(kernels.size(), memory_kernels().size());
    for (const char* op :
         {"gemm", "memory", "kernel_launch", "graph_launch", "host_dispatch", "host_to_device", "device_to_host"}) {
      EXPECT_TRUE(kinds.contains(op)) << op;
    }
  }
}

TEST(Suites, bandwidth_goes_from_L1_to_8_GB_with_points_about_the_l2) {
  std::set<std::int64_t> sizes;
  for (const auto& one : suite_cases(Suite::llm, simulated_facts(), "memory")) {
    if (one.kernel == "copy" && one.cache == CacheMode::hot) sizes.insert(one.sizes.at("bytes"));
  }
  EXPECT_LE(*sizes.begin(), 64 * 1024);
  EXPECT_EQ(*sizes.rbegin(), std::int64_t{8} << 30);
  const auto l2 = static_cast<std::int64_t>(simulated_facts().l2.value());
  EXPECT_GE(std::ranges::count_if(sizes, [&](std::int64_t s) { return s > l2 / 5 && s < 2 * l2; }), 8);
}

TEST(Suites, one_operator_alone) {
  for (const auto& one : suite_cases(Suite::llm, simulated_facts(), "gemm")) EXPECT_EQ(one.op, "gemm");
  for (const auto& one : suite_cases(Suite::llm, simulated_facts(), "launch")) EXPECT_EQ(one.kind, kLaunchKind);
  EXPECT_FALSE(suite_cases(Suite::quick, simulated_facts(), "transfer").empty());
}

TEST(Suites, formats_by_generation) {
  const auto has = [](int capability, std::string_view dtype) {
    const auto all = gemm_dtypes(capability);
    return std::ranges::find(all, dtype) != all.end();
  };
  EXPECT_FALSE(has(80, "fp8"));
  EXPECT_TRUE(has(89, "fp8"));
  EXPECT_TRUE(has(90, "fp8_block"));
  EXPECT_FALSE(has(90, "nvfp4"));
  EXPECT_TRUE(has(100, "nvfp4"));
  EXPECT_TRUE(has(120, "mxfp8"));
  for (const char* dtype : {"float32", "tf32", "float16", "bfloat16", "int8"}) EXPECT_TRUE(has(80, dtype)) << dtype;
}

TEST(MapCases, cover_a_dense_grid_of_every_format) {
  const auto cases = map_cases(90);
  EXPECT_GT(cases.size(), 50000u);
  std::set<std::string> dtypes;
  for (const auto& one : cases) {
    ASSERT_EQ(one.kind, kMapKind);
    dtypes.insert(one.attributes.at("dtype"));
  }
  EXPECT_EQ(dtypes.size(), gemm_dtypes(90).size());
}

TEST(CaseId, tells_cases_apart) {
  MeasurementCase one = sentinel_case();
  EXPECT_EQ(case_id(one), "sentinel/gemm/heuristic/dtype=bfloat16/k=4096,m=4096,n=4096/hot");
  MeasurementCase other = one;
  other.cache = CacheMode::cold;
  EXPECT_NE(case_id(one), case_id(other));
  MeasurementCase launch;
  launch.kind = std::string(kLaunchKind);
  launch.op = "kernel_launch";
  EXPECT_EQ(case_id(launch), "launch/kernel_launch/-/-/-/hot");
}

TEST(TimeLeft, corrects_the_guess_by_what_was_seen_and_keeps_to_the_budget) {
  TimeLeft left(Seconds(100.0), std::nullopt);
  EXPECT_NEAR(left.left(Seconds(0.0)).value(), 100.0, 1e-9);
  for (int i = 0; i < 50; ++i) left.finished(Seconds(1.0), Seconds(2.0));
  EXPECT_NEAR(left.left(Seconds(100.0)).value(), 50.0 * 101.0 / 51.0, 1e-9);
  left.skipped(Seconds(50.0));
  EXPECT_EQ(left.left(Seconds(100.0)).value(), 0.0);

  TimeLeft budget(Seconds(1000.0), Seconds(60.0));
  EXPECT_EQ(budget.left(Seconds(10.0)).value(), 50.0);
  EXPECT_FALSE(budget.over(Seconds(59.0)));
  EXPECT_TRUE(budget.over(Seconds(60.0)));
}

TEST(TimeLeft, in_words) {
  EXPECT_EQ(duration_text(Seconds(12.4)), "12 s");
  EXPECT_EQ(duration_text(Seconds(200.0)), "3 min 20 s");
  EXPECT_EQ(duration_text(Seconds(3900.0)), "1 h 05 min");
}

TEST(ExpectedTime, an_unknown_gpu_gets_a_guess_not_a_zero) {
  const Seconds guess = expected_kernel_time(sentinel_case(), GpuSpec{});
  EXPECT_GT(guess.value(), 1e-4);
  EXPECT_LT(guess.value(), 1e-1);
}

}  // namespace
}  // namespace roofcal::microbench
