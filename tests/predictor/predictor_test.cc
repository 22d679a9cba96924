#include "predictor/predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "calibrate/fit.h"
#include "core/roofline.h"
#include "predictor/memory_bandwidth.h"

namespace roofcal {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kFigures = R"("figures": {"sm_count": 132, "boost_clock_hz": 1.98e9, "memory_bytes": 141e9,
  "memory_bandwidth_bytes_per_s": 4.8e12, "l2_bytes": 52428800, "bfloat16_flops_per_s": 989.5e12, "fp8_flops_per_s": 1979e12}})";

GpuCatalogue catalogue() {
  GpuCatalogue gpus;
  for (const std::string head :
       {R"({"name": "h200_sxm", "aliases": ["NVIDIA H200"], "architecture": "hopper", )",
        R"({"name": "h100_sxm", "architecture": "hopper", )", R"({"name": "l40s", "architecture": "ada", )"}) {
    EXPECT_TRUE(gpus.add(head + kFigures, "test", "builtin").ok());
  }
  EXPECT_TRUE(
      gpus.add(R"({"name": "a100_sxm", "architecture": "ampere", "figures": {"sm_count": 108, "boost_clock_hz": 1.41e9,
    "memory_bytes": 80e9, "memory_bandwidth_bytes_per_s": 2.0e12, "l2_bytes": 41943040, "bfloat16_flops_per_s": 312e12}})",
               "test", "builtin")
          .ok());
  return gpus;
}

ClassKey key(std::string framework, std::string version, std::string kernel, std::string dtype = "bfloat16") {
  return {"gemm",
          "h200_sxm",
          std::move(framework),
          std::move(version),
          std::move(kernel),
          {{"dtype", std::move(dtype)}},
          CacheMode::hot};
}

// A GEMM that takes 5 us and twice its bound: exactly what the physical mean can say.
double law(const GpuSpec& gpu, const ClassKey& k, const Shape& shape, double factor) {
  return 5e-6 + factor * roofline(gpu, find_operator("gemm")->work(k.attributes, shape), CacheMode::hot).time.value();
}

ClassModel fitted(const GpuCatalogue& gpus, const ClassKey& k, double factor = 2.0) {
  const GpuSpec& gpu = *gpus.spec(k.gpu);
  std::vector<Sample> samples;
  for (std::int64_t m = 16; m <= 4096; m *= 4) {
    for (std::int64_t n = 256; n <= 16384; n *= 4) {
      for (std::int64_t kk = 256; kk <= 16384; kk *= 8) {
        samples.push_back({Shape{m, n, kk}, Seconds(law(gpu, k, Shape{m, n, kk}, factor))});
      }
    }
  }
  auto model = fit_class(k, gpu, samples, FitOptions{});
  EXPECT_TRUE(model.ok());
  return std::move(*model);
}

class FixedSource final : public CalibrationSource {
 public:
  void add(ClassModel model) {
    auto calibration = std::make_unique<Calibration>();
    calibration->models.push_back(std::move(model));
    held_.push_back(std::move(calibration));
  }
  Calibration& last() { return *held_.back(); }
  void join(ClassModel model) { held_.back()->models.push_back(std::move(model)); }

  Result<std::vector<const Calibration*>> find(std::string_view gpu, std::string_view op,
                                               const Attributes& attributes) const override {
    std::vector<const Calibration*> found;
    for (const auto& calibration : held_) {
      const ClassKey& k = calibration->models.front().key();
      if (k.gpu == gpu && k.op == op && k.attributes == attributes) found.push_back(calibration.get());
    }
    return found;
  }
  Result<std::vector<ClassKey>> available() const override {
    std::vector<ClassKey> keys;
    for (const auto& calibration : held_) {
      for (const ClassModel& model : calibration->models) keys.push_back(model.key());
    }
    return keys;
  }

 private:
  std::vector<std::unique_ptr<Calibration>> held_;
};

Question question(std::string gpu = "h200_sxm", std::string dtype = "bfloat16") {
  return {std::move(gpu), "gemm", {{"dtype", std::move(dtype)}}, "", "", "", CacheMode::hot};
}

class PredictorTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Resolution> resolve(const Question& q) {
    const auto resolved = Predictor(gpus_, source_).resolve(q);
    EXPECT_TRUE(resolved.ok()) << (resolved.ok() ? "" : resolved.error().message);
    return resolved.ok() ? *resolved : nullptr;
  }
  Error refusal(const Question& q) {
    const auto resolved = Predictor(gpus_, source_).resolve(q);
    EXPECT_FALSE(resolved.ok());
    return resolved.ok() ? Error{ErrorCode::io, "answered"} : resolved.error();
  }
  ClassModel model(const ClassKey& k, double factor = 2.0) { return fitted(gpus_, k, factor); }

  GpuCatalogue gpus_ = catalogue();
  FixedSource source_;
};

TEST_F(PredictorTest, InterpolatesWithinTheHull) {
  const ClassKey k = key("trtllm", "1.0", "flow");
  source_.add(model(k));
  const auto resolved = resolve(question("NVIDIA H200"));
  const Shape shape{500, 3000, 3000};
  const Answer answer = resolved->predict(shape);
  EXPECT_NEAR(answer.time.value(), law(*gpus_.spec("h200_sxm"), k, shape, 2.0), 0.1 * answer.time.value());
  EXPECT_LE(answer.lo, answer.time);
  EXPECT_GE(answer.hi, answer.time);
  EXPECT_GE(answer.lo, answer.roofline);
  EXPECT_EQ(answer.provenance, Provenance::interpolated);
  EXPECT_EQ(resolved->gpu().name, "h200_sxm");
  EXPECT_THAT(resolved->warnings(), IsEmpty());
  EXPECT_THAT(resolved->kernels(), ElementsAre("flow"));
}

TEST_F(PredictorTest, AMeasuredShapeAnswersWithItsMeasurement) {
  const ClassKey k = key("trtllm", "1.0", "flow");
  source_.add(model(k));
  const Shape shape{256, 1024, 2048};
  const Answer answer = resolve(question())->predict(shape);
  EXPECT_EQ(answer.provenance, Provenance::measured);
  EXPECT_DOUBLE_EQ(answer.time.value(), law(*gpus_.spec("h200_sxm"), k, shape, 2.0));
}

TEST_F(PredictorTest, BeyondTheHullItIsExtrapolatedWiderAndSaidAlongWhich) {
  source_.add(model(key("trtllm", "1.0", "flow")));
  const auto resolved = resolve(question());
  const Shape inside{1000, 4000, 4000};
  const Shape beyond{1000000, 4000, 4000};
  const Answer near = resolved->predict(inside);
  const Answer far = resolved->predict(beyond);
  EXPECT_EQ(far.provenance, Provenance::extrapolated);
  EXPECT_EQ(far.outside_fields, 1U);
  EXPECT_GE(far.time, far.roofline);
  EXPECT_GT(far.hi / far.lo, near.hi / near.lo);
  EXPECT_THAT(resolved->warnings(beyond, far),
              Contains(HasSubstr("m = 1000000 lies outside the calibrated 16 .. 4096")));
  // A thousand times the work cannot take the time of the last row.
  EXPECT_GT(far.time / resolved->predict(Shape{4096, 4000, 4000}).time, 100.0);
}

TEST_F(PredictorTest, DefaultsAreTrtllmAndItsNewestVersion) {
  source_.add(model(key("vllm", "0.24.0", "linear")));
  source_.add(model(key("trtllm", "1.3.0rc9", "flow")));
  source_.add(model(key("trtllm", "1.3.0rc10", "flow")));
  const auto resolved = resolve(question());
  EXPECT_EQ(resolved->framework(), "trtllm");
  EXPECT_EQ(resolved->version(), "1.3.0rc10");
}

TEST_F(PredictorTest, AnotherFrameworkVersionOrKernelStandsInWithAWarning) {
  source_.add(model(key("trtllm", "1.0", "flow")));
  Question q = question();
  q.framework = "sglang";
  EXPECT_THAT(resolve(q)->warnings(), Contains(HasSubstr("framework sglang is not calibrated: trtllm answers")));
  EXPECT_EQ(resolve(q)->predict(Shape{500, 512, 512}).provenance, Provenance::transferred);
  q = question();
  q.version = "2.0";
  EXPECT_THAT(resolve(q)->warnings(), Contains(HasSubstr("trtllm version 2.0 is not calibrated: 1.0 answers")));
  q = question();
  q.kernel = "cutlass";
  EXPECT_THAT(resolve(q)->warnings(), Contains(HasSubstr("kernel cutlass is not calibrated")));
  EXPECT_EQ(resolve(q)->predict(Shape{500, 512, 512}).provenance, Provenance::transferred);
}

TEST_F(PredictorTest, TheStoreHidesTheBuiltInOfTheSameClass) {
  source_.add(model(key("trtllm", "1.0", "flow"), 4.0));
  source_.add(model(key("trtllm", "1.0", "flow"), 2.0));
  const Shape shape{2000, 8000, 8000};
  const auto resolved = resolve(question());
  EXPECT_THAT(resolved->kernels(), ElementsAre("flow"));
  EXPECT_NEAR(resolved->predict(shape).efficiency(), 0.25, 0.03);
}

TEST_F(PredictorTest, TheLearnedDispatchNamesTheKernel) {
  source_.add(model(key("vllm", "0.24.0", "small"), 3.0));
  source_.join(model(key("vllm", "0.24.0", "large"), 2.0));
  ClassKey group = key("vllm", "0.24.0", "");
  std::vector<Dispatch::Choice> choices;
  for (std::int64_t m = 1; m <= 4096; m *= 2) {
    for (std::int64_t n = 256; n <= 8192; n *= 2) choices.push_back({Shape{m, n, n}, m <= 64 ? "small" : "large"});
  }
  source_.last().dispatch.emplace(group, Dispatch::learn(choices));
  const auto resolved = resolve(question());
  EXPECT_THAT(resolved->kernels(), ElementsAre("large", "small"));
  EXPECT_EQ(resolved->kernels()[resolved->predict(Shape{16, 4096, 4096}).kernel], "small");
  EXPECT_EQ(resolved->kernels()[resolved->predict(Shape{2048, 4096, 4096}).kernel], "large");

  std::vector<Shape> shapes{{16, 4096, 4096}, {2048, 4096, 4096}, {32, 300, 300}, {4000, 300, 300}};
  std::vector<Answer> together(shapes.size());
  resolved->predict(shapes, together);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Answer alone = resolved->predict(shapes[i]);
    EXPECT_NEAR(together[i].time / alone.time, 1.0, 1e-6);
    EXPECT_EQ(together[i].kernel, alone.kernel);
  }

  Question q = question();
  q.kernel = "small";
  const auto forced = resolve(q);
  EXPECT_THAT(forced->kernels(), ElementsAre("small"));
  EXPECT_EQ(forced->predict(Shape{2000, 4096, 4096}).provenance, Provenance::interpolated);
}

TEST_F(PredictorTest, SeveralKernelsWithoutADispatchAreRefused) {
  source_.add(model(key("vllm", "1", "a")));
  source_.join(model(key("vllm", "1", "b")));
  EXPECT_THAT(refusal(question()).message, HasSubstr("--kernel (a, b)"));
}

TEST_F(PredictorTest, AnUnknownGpuIsAUsageErrorWithASuggestion) {
  source_.add(model(key("trtllm", "1.0", "flow")));
  const Error error = refusal(question("h20O_sxm"));
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_THAT(error.message, HasSubstr("did you mean h200_sxm"));
}

TEST_F(PredictorTest, AnUncalibratedDtypeIsRefusedWithWhatThereIs) {
  source_.add(model(key("trtllm", "1.0", "flow")));
  const Error error = refusal(question("h200_sxm", "fp8"));
  EXPECT_EQ(error.code, ErrorCode::not_calibrated);
  EXPECT_THAT(error.message, HasSubstr("calibrated on h200_sxm: dtype=bfloat16"));
}

TEST_F(PredictorTest, ADtypeThatTheGpuLacksIsRefused) {
  source_.add(model(key("trtllm", "1.0", "flow", "fp8")));
  const Error error = refusal(question("a100_sxm", "fp8"));
  EXPECT_EQ(error.code, ErrorCode::not_calibrated);
  EXPECT_THAT(error.message, HasSubstr("a100_sxm has no fp8"));
}

TEST_F(PredictorTest, AnotherGpuStandsInOnlyForOneWithoutCalibrationAndWidens) {
  source_.add(model(key("trtllm", "1.0", "flow")));
  const Shape shape{1000, 4000, 4000};
  const auto own = resolve(question())->predict(shape);
  const auto resolved = resolve(question("h100_sxm"));
  const Answer carried = resolved->predict(shape);
  EXPECT_EQ(carried.provenance, Provenance::transferred);
  EXPECT_THAT(resolved->warnings(), Contains(HasSubstr("carried over from h200_sxm")));
  EXPECT_EQ(resolved->gpu().name, "h100_sxm");
  EXPECT_GT(carried.hi / carried.lo, own.hi / own.lo);
  // The same architecture widens less than another.
  const Answer foreign = resolve(question("l40s"))->predict(shape);
  EXPECT_GT(foreign.hi / foreign.lo, carried.hi / carried.lo);
}

TEST_F(PredictorTest, AColdCallOfAHotCalibrationIsSlowerAndSaid) {
  source_.add(model(key("trtllm", "1.0", "flow")));
  Question q = question();
  q.cache = CacheMode::cold;
  const Shape shape{64, 4096, 2048};
  const auto cold = resolve(q);
  EXPECT_GT(cold->predict(shape).time, resolve(question())->predict(shape).time);
  EXPECT_EQ(cold->predict(shape).provenance, Provenance::transferred);
  EXPECT_THAT(cold->warnings(), Contains(HasSubstr("hot L2 only")));
}

TEST_F(PredictorTest, NothingCalibratedAtAllSaysHowToBegin) {
  const Error error = refusal(question());
  EXPECT_EQ(error.code, ErrorCode::not_calibrated);
  EXPECT_THAT(error.message, HasSubstr("roofcal import"));
}

// A memory class that reads at 3 TB/s after `floor`; `derived`: as if its coefficients came from other operators.
ClassModel memory_class(const GpuCatalogue& gpus, std::string framework, double floor, bool derived) {
  const ClassKey k{"memory", "h200_sxm", std::move(framework), "1", "copy", {}, CacheMode::cold};
  std::vector<Sample> samples;
  for (std::int64_t bytes = 1 << 10; bytes <= std::int64_t{1} << 32; bytes *= 2) {
    samples.push_back({Shape{bytes, 0}, Seconds(floor + static_cast<double>(bytes) / 3e12)});
    samples.push_back({Shape{bytes / 2, bytes / 2}, Seconds(floor + static_cast<double>(bytes) / 3e12)});
  }
  const GpuSpec& gpu = *gpus.spec(k.gpu);
  FitOptions options;
  options.publish_times = false;
  auto model = fit_class(k, gpu, samples, options);
  EXPECT_TRUE(model.ok());
  auto json = model->to_json();
  if (derived) json["derived_from"] = "other rows";
  auto out = ClassModel::from_json(json, gpu);
  EXPECT_TRUE(out.ok());
  return *std::move(out);
}

TEST_F(PredictorTest, WhatWasNeverTimedIsTransferredAndSaysFromWhat) {
  source_.add(memory_class(gpus_, "derived", 3e-6, true));
  const auto resolved = resolve({"h200_sxm", "memory", {}, "", "", "", CacheMode::cold});
  EXPECT_EQ(resolved->predict(Shape{1 << 20, 0}).provenance, Provenance::transferred);
  EXPECT_THAT(resolved->warnings(), ElementsAre("memory was never timed on h200_sxm: derived from other rows"));
}

TEST_F(PredictorTest, MeasurementsWinOverWhatWasDerivedWithoutThem) {
  source_.add(memory_class(gpus_, "derived", 3e-6, true));
  source_.add(memory_class(gpus_, "microbench", 5e-6, false));
  const auto resolved = resolve({"h200_sxm", "memory", {}, "", "", "", CacheMode::cold});
  EXPECT_EQ(resolved->framework(), "microbench");
  EXPECT_EQ(resolved->predict(Shape{1 << 20, 0}).provenance, Provenance::interpolated);
  EXPECT_THAT(resolved->warnings(), IsEmpty());
}

TEST_F(PredictorTest, MemoryBandwidthLeavesTheLaunchAside) {
  source_.add(memory_class(gpus_, "microbench", 5e-6, false));
  const auto bandwidth = memory_bandwidth(Predictor(gpus_, source_), "h200_sxm");
  ASSERT_TRUE(bandwidth.ok()) << bandwidth.error().message;
  EXPECT_NEAR(bandwidth->value.value(), 3e12, 0.03e12);
  EXPECT_LE(bandwidth->lo, bandwidth->value);
  EXPECT_GE(bandwidth->hi, bandwidth->value);
  EXPECT_NEAR(bandwidth->launch_floor.value(), 5e-6, 0.3e-6);
  EXPECT_THAT(bandwidth->warnings, IsEmpty());
  const auto none = memory_bandwidth(Predictor(gpus_, FixedSource{}), "h200_sxm");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::not_calibrated);
}

}  // namespace
}  // namespace roofcal
