#include "calibrate/memory_stand_in.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "calibrate/random.h"
#include "db/read_classes.h"
#include "tests/calibrate/synthetic.h"

namespace roofcal {
namespace {

using ::testing::HasSubstr;

constexpr double kFloor = 3e-6;
constexpr double kShare = 0.85;  // of the datasheet's bandwidth that weights reach

// GEMMs of one row, 4 KB to 8 GB of weights, that take a launch and their bytes, with 2 % of noise; `slower`: by class.
std::vector<Sample> gemms(double slower, std::uint64_t seed) {
  const GpuSpec gpu = test::synthetic_gpu();
  const ClassKey key = test::synthetic_key();
  Random random(seed);
  std::vector<Sample> samples;
  for (int i = 0; i < 600; ++i) {
    const auto side = static_cast<std::int64_t>(32.0 * std::exp2(10.5 * random.uniform()));
    const Shape shape{1, side, side};
    const Bytes bytes = find_operator("gemm")->work(key.attributes, shape).bytes();
    const double noise = 1.0 + 0.02 * (2.0 * random.uniform() - 1.0);
    samples.push_back({shape, slower * noise * (Seconds(kFloor) + bytes / (kShare * gpu.memory_bandwidth))});
  }
  return samples;
}

ClassKey named(std::string framework) {
  ClassKey key = test::synthetic_key();
  key.framework = std::move(framework);
  return key;
}

SamplesByClass two_classes() { return {{named("trtllm"), gemms(1.0, 1)}, {named("vllm"), gemms(1.05, 2)}}; }

// Decode attention whose key/value caches come in at `share` of the datasheet's bandwidth.
std::pair<ClassKey, std::vector<Sample>> decode(const std::string& framework, double share) {
  ClassKey key = named(framework);
  key.op = "generation_attention";
  key.attributes = {{"dtype", "bfloat16"}, {"kv-dtype", "bfloat16"}};
  const Operator& op = *find_operator(key.op);
  std::vector<Sample> samples;
  for (std::int64_t batch = 1; batch <= 128; ++batch) {
    const auto call = parse_call(op, [&](std::string_view column) -> std::optional<std::string_view> {
      static std::string text;
      text = std::to_string(batch);
      if (column == "batch") return text;
      if (column == "seq") return "65536";
      if (column == "heads" || column == "kv-heads" || column == "kv_heads") return "8";
      if (column == "head-dim" || column == "head_dim") return "128";
      if (column == "dtype") return "bfloat16";
      return std::nullopt;
    });
    EXPECT_TRUE(call) << call.error().message;
    const Bytes bytes = op.work(key.attributes, call->shape).bytes();
    samples.push_back({call->shape, Seconds(10e-6) + bytes / (share * test::synthetic_gpu().memory_bandwidth)});
  }
  return {key, samples};
}

TEST(MemoryStandIn, FindsTheFloorAndTheBandwidth) {
  SamplesByClass classes = two_classes();
  classes.insert(decode("trtllm", 0.8));
  const auto figures = memory_figures(test::synthetic_gpu(), classes);
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_NEAR(figures->launch_floor.value(), kFloor, 0.06 * kFloor);
  EXPECT_NEAR(figures->by_gemm / test::synthetic_gpu().memory_bandwidth, kShare, 0.02);
  EXPECT_NEAR(figures->by_attention / test::synthetic_gpu().memory_bandwidth, 0.8, 0.01);
}

TEST(MemoryStandIn, BelievesNoClassThatBeatsTheDatasheet) {
  SamplesByClass classes = two_classes();
  classes.insert(decode("trtllm", 1.4));
  const auto figures = memory_figures(test::synthetic_gpu(), classes);
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->by_attention, BytesPerSecond{});
}

TEST(MemoryStandIn, NeedsRowsOfSmallAndOfLargeGemms) {
  SamplesByClass classes = two_classes();
  for (auto& [key, samples] : classes) {
    std::erase_if(samples, [](const Sample& sample) { return sample.shape[1] > 4096; });
  }
  const auto figures = memory_figures(test::synthetic_gpu(), classes);
  ASSERT_FALSE(figures);
  EXPECT_EQ(figures.error().code, ErrorCode::not_calibrated);
  EXPECT_THAT(figures.error().message, HasSubstr("testgpu"));
}

TEST(MemoryStandIn, OneClassCannotSayHowKernelsDiffer) {
  const auto model = memory_stand_in(test::synthetic_gpu(), {{named("trtllm"), gemms(1.0, 1)}}, CacheMode::cold);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("one class only"));
}

TEST(MemoryStandIn, ColdCallsTakeALaunchAndTheirBytes) {
  const GpuSpec gpu = test::synthetic_gpu();
  const auto model = memory_stand_in(gpu, two_classes(), CacheMode::cold);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_FALSE(model->derived_from().empty());
  for (const std::int64_t bytes : {std::int64_t{1} << 10, std::int64_t{1} << 24, std::int64_t{1} << 30}) {
    for (const Shape& shape : {Shape{bytes, 0}, Shape{bytes / 2, bytes / 2}}) {
      const Estimate estimate = model->predict(shape);
      const double truth = kFloor + static_cast<double>(bytes) / (kShare * gpu.memory_bandwidth.value());
      EXPECT_NEAR(estimate.time.value() / truth, 1.0, 0.06) << bytes;
      EXPECT_LT(estimate.lo.value(), truth * std::exp(-0.06)) << bytes;
      EXPECT_GT(estimate.hi.value(), truth * std::exp(0.08)) << bytes;
      EXPECT_EQ(estimate.region == Region::outside, false) << bytes;
    }
  }
  // 5 % between the classes and 2 % of noise lie well within what families differ by.
  EXPECT_GT(model->figures().coverage90, 0.9);
  EXPECT_FALSE(model->measured(Shape{1 << 10, 0}));
}

TEST(MemoryStandIn, HotCallsMayBeAsFastAsTheL2Allows) {
  const GpuSpec gpu = test::synthetic_gpu();
  const auto hot = memory_stand_in(gpu, two_classes(), CacheMode::hot);
  const auto cold = memory_stand_in(gpu, two_classes(), CacheMode::cold);
  ASSERT_TRUE(hot && cold);
  const Shape shape{20'000'000, 20'000'000};  // fits the L2
  const Estimate estimate = hot->predict(shape);
  EXPECT_LT(estimate.time, cold->predict(shape).time);
  EXPECT_LT(estimate.lo.value(), kFloor + 40e6 / gpu.l2_bandwidth.value());
  EXPECT_GT(estimate.hi, cold->predict(shape).time);
}

TEST(MemoryStandIn, KeepsWhereItComesFromInItsFile) {
  const GpuSpec gpu = test::synthetic_gpu();
  const auto model = memory_stand_in(gpu, two_classes(), CacheMode::hot);
  ASSERT_TRUE(model) << model.error().message;
  const auto again = ClassModel::from_json(model->to_json(), gpu);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->derived_from(), model->derived_from());
  EXPECT_EQ(again->to_json(), model->to_json());
  EXPECT_EQ(again->predict(Shape{1 << 20, 0}).hi, model->predict(Shape{1 << 20, 0}).hi);
}

// What kMemoryFamilySpread claims, on the public tables.
TEST(MemoryStandIn, FamiliesOfOperatorsAgreeOnTheBandwidthOfTheFiveGpus) {
  const char* given = std::getenv("ROOFCAL_DATA");
  const std::filesystem::path source(ROOFCAL_SOURCE_DIR);
  const auto folder =
      (given != nullptr ? std::filesystem::path(given) : source.parent_path() / "shared/data") / "silicon";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no measurements at " << folder << ": set ROOFCAL_DATA";
  const auto gpus = GpuCatalogue::load(source / "db/catalogue");
  ASSERT_TRUE(gpus) << gpus.error().message;
  for (const char* name : {"a100_sxm", "h100_sxm", "h200_sxm", "b200_sxm", "l40s"}) {
    const auto classes = read_classes(folder / name, *gpus, tells_about_memory);
    ASSERT_TRUE(classes) << classes.error().message;
    const GpuSpec& gpu = *gpus->spec(name);
    const auto figures = memory_figures(gpu, *classes);
    ASSERT_TRUE(figures) << figures.error().message;
    EXPECT_LT(std::abs(std::log(figures->by_attention / figures->by_gemm)), kMemoryFamilySpread) << name;
    EXPECT_GT(figures->by_gemm / gpu.memory_bandwidth, 0.8) << name;
    EXPECT_LT(figures->by_gemm / gpu.memory_bandwidth, 0.95) << name;
    EXPECT_GT(figures->launch_floor.value(), 1.5e-6) << name;
    EXPECT_LT(figures->launch_floor.value(), 4e-6) << name;
    for (const CacheMode cache : {CacheMode::hot, CacheMode::cold}) {
      const auto model = memory_stand_in(gpu, *classes, cache);
      ASSERT_TRUE(model) << model.error().message;
      EXPECT_GT(model->figures().coverage90, 0.9) << name;
    }
  }
}

}  // namespace
}  // namespace roofcal
