// The calibrations that are shipped: complete, small, readable, and each saying where it comes from.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "calibrate/calibration.h"
#include "db/catalogue.h"
#include "predictor/calibration_library.h"
#include "predictor/memory_bandwidth.h"
#include "predictor/predictor.h"

namespace roofcal {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostOfAFile = 2'000'000;
constexpr std::uintmax_t kMostTogether = 20'000'000;

class BuiltinCalibrations : public ::testing::Test {
 protected:
  BuiltinCalibrations() : gpus_(*GpuCatalogue::load(ROOFCAL_CATALOGUE)), library_(ROOFCAL_BUILTIN, gpus_, nullptr) {}

  const GpuCatalogue gpus_;
  const CalibrationLibrary library_;
};

TEST_F(BuiltinCalibrations, AreSmall) {
  std::uintmax_t together = 0;
  for (const auto& entry : fs::recursive_directory_iterator(ROOFCAL_BUILTIN)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_LE(entry.file_size(), kMostOfAFile) << entry.path();
    together += entry.file_size();
  }
  EXPECT_LE(together, kMostTogether);
}

TEST_F(BuiltinCalibrations, SayWhereTheyComeFrom) {
  for (const auto& entry : fs::recursive_directory_iterator(ROOFCAL_BUILTIN)) {
    if (!entry.is_regular_file()) continue;
    const auto loaded = load_calibration(entry.path(), [this](std::string_view name) { return gpus_.spec(name); });
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_FALSE(loaded->source.empty()) << entry.path();
    EXPECT_FALSE(loaded->licence.empty()) << entry.path();
    EXPECT_FALSE(loaded->settings.empty()) << entry.path();
    EXPECT_FALSE(loaded->created_utc.empty()) << entry.path();
    ASSERT_FALSE(loaded->models.empty()) << entry.path();
    for (const ClassModel& model : loaded->models) {
      EXPECT_EQ(entry.path().lexically_relative(ROOFCAL_BUILTIN),
                calibration_file_name(model.key().gpu, model.key().op, model.key().attributes));
      EXPECT_GT(model.figures().rows, 0U) << describe(model.key());
      EXPECT_GT(model.figures().mape, 0.0) << describe(model.key());
      EXPECT_GT(model.figures().coverage90, 0.8) << describe(model.key());
      EXPECT_LT(model.figures().coverage90, 1.0) << describe(model.key());
    }
  }
}

TEST_F(BuiltinCalibrations, CoverEveryOperatorOfTheFiveGpus) {
  std::map<std::string, std::set<std::string>> operators;
  const auto builtins = library_.builtins();
  ASSERT_TRUE(builtins) << builtins.error().message;
  for (const ClassKey& key : *builtins) operators[key.gpu].insert(key.op);
  for (const char* gpu : {"a100_sxm", "h100_sxm", "h200_sxm", "b200_sxm", "l40s"}) {
    for (const char* op : {"gemm", "context_attention", "generation_attention", "context_mla", "generation_mla", "moe",
                           "collective", "memory"}) {
      if (gpu == std::string("l40s") && std::string(op).ends_with("_mla")) continue;  // nobody published any
      EXPECT_TRUE(operators[gpu].contains(op)) << gpu << ' ' << op;
    }
  }
}

// The shortest question of each kind: an answer within its interval, at or above what the measurements allow, and
// without times of calibrated points, which built-ins do not publish.
TEST_F(BuiltinCalibrations, AnswerWithoutMeasuredTimes) {
  const Predictor predictor(gpus_, library_);
  const auto builtins = library_.builtins();
  ASSERT_TRUE(builtins) << builtins.error().message;
  for (const ClassKey& key : *builtins) {
    const auto resolution = predictor.resolve({key.gpu, key.op, key.attributes, {}, {}, {}, CacheMode::hot});
    ASSERT_TRUE(resolution) << resolution.error().message;
    const Operator& op = (*resolution)->op();
    Shape shape(op.fields().size());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      shape[i] = op.fields()[i].fallback.value_or(op.fields()[i].name == "bytes" ? 1 << 20 : 64);
    }
    if (op.name() == "moe") {
      for (std::size_t i = 0; i < shape.size(); ++i) {
        if (op.fields()[i].name == "topk") shape[i] = 4;
      }
    }
    ASSERT_TRUE(op.check(key.attributes, shape).ok()) << describe(key);
    const Answer answer = (*resolution)->predict(shape);
    EXPECT_GT(answer.time.value(), 0.0) << describe(key);
    EXPECT_LT(answer.lo, answer.time) << describe(key);
    EXPECT_GT(answer.hi, answer.time) << describe(key);
    const bool derived = key.op == "memory";  // no public table has memory-bound kernels
    EXPECT_TRUE(derived
                    ? answer.provenance == Provenance::transferred
                    : answer.provenance == Provenance::interpolated || answer.provenance == Provenance::extrapolated)
        << describe(key) << ' ' << to_string(answer.provenance);
    EXPECT_EQ((*resolution)->warnings().empty(), !derived) << describe(key);
    const auto nearest = (*resolution)->nearest(shape, answer, 3);
    EXPECT_FALSE(nearest.empty()) << describe(key);
    for (const Neighbour& point : nearest) EXPECT_FALSE(point.time) << describe(key);
  }
}

TEST_F(BuiltinCalibrations, TellTheMemoryBandwidthOfTheFiveGpus) {
  const Predictor predictor(gpus_, library_);
  for (const char* name : {"a100_sxm", "h100_sxm", "h200_sxm", "b200_sxm", "l40s"}) {
    const auto bandwidth = memory_bandwidth(predictor, name);
    ASSERT_TRUE(bandwidth) << bandwidth.error().message;
    const BytesPerSecond datasheet = gpus_.spec(name)->memory_bandwidth;
    EXPECT_GT(bandwidth->value / datasheet, 0.8) << name;
    EXPECT_LT(bandwidth->value / datasheet, 0.95) << name;
    EXPECT_LT(bandwidth->lo, bandwidth->value) << name;
    EXPECT_GT(bandwidth->hi, bandwidth->value) << name;
    EXPECT_LE(bandwidth->hi, datasheet) << name;
    EXPECT_GT(bandwidth->launch_floor.value(), 1.5e-6) << name;
    EXPECT_LT(bandwidth->launch_floor.value(), 4e-6) << name;
    EXPECT_EQ(bandwidth->provenance, Provenance::transferred) << name;
    ASSERT_EQ(bandwidth->warnings.size(), 1U) << name;
    EXPECT_NE(bandwidth->warnings.front().find("never timed"), std::string::npos) << bandwidth->warnings.front();
  }
}

TEST_F(BuiltinCalibrations, TellTheMemoryBandwidthOfAnotherGpuWithADonor) {
  const Predictor predictor(gpus_, library_);
  const auto bandwidth = memory_bandwidth(predictor, "h200_nvl");
  ASSERT_TRUE(bandwidth) << bandwidth.error().message;
  EXPECT_GT(bandwidth->value / gpus_.spec("h200_nvl")->memory_bandwidth, 0.8);
  EXPECT_EQ(bandwidth->provenance, Provenance::transferred);
  EXPECT_EQ(bandwidth->warnings.size(), 2U);
}

// Reading ahead changes when files are read, and nothing else: a group that is not there stays away.
TEST_F(BuiltinCalibrations, AnswerAlikeWhenTheyAreExpected) {
  const auto builtins = library_.builtins();
  ASSERT_TRUE(builtins) << builtins.error().message;
  std::vector<ClassKey> groups(builtins->begin(), builtins->begin() + 6);
  groups.push_back(groups.front());
  groups.push_back({"gemm", "a100_sxm", "", "", "", {{"dtype", "nvfp4"}}, CacheMode::hot});
  const CalibrationLibrary ahead(ROOFCAL_BUILTIN, gpus_, nullptr);
  ahead.expect(groups);
  ahead.expect(groups);
  for (const ClassKey& group : groups) {
    const auto expected = library_.find(group.gpu, group.op, group.attributes);
    const auto found = ahead.find(group.gpu, group.op, group.attributes);
    ASSERT_TRUE(expected && found);
    ASSERT_EQ(found->size(), expected->size()) << describe(group);
    for (std::size_t i = 0; i < found->size(); ++i) {
      EXPECT_EQ((*found)[i]->origin, "builtin");
      ASSERT_EQ((*found)[i]->models.size(), (*expected)[i]->models.size());
      for (std::size_t m = 0; m < (*found)[i]->models.size(); ++m) {
        EXPECT_EQ((*found)[i]->models[m].to_json(), (*expected)[i]->models[m].to_json()) << describe(group);
      }
    }
  }
}

}  // namespace
}  // namespace roofcal
