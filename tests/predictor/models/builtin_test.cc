// The models that come with the program, by the names that they have on Hugging Face.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "predictor/models/counts.h"
#include "predictor/models/library.h"
#include "tests/predictor/models/data_path.h"

namespace roofcal::models {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const ModelLibrary& library() {
  static const ModelLibrary models(ROOFCAL_MODELS);
  return models;
}

struct Expected {
  std::string name;
  double parameters, active, kv_bytes;
  std::string attention, experts_or_ffn, kv_cache;
};

TEST(BuiltinModels, HaveTheirPublishedCounts) {
  constexpr double kMla = 61.0 * 576.0;
  const std::vector<Expected> all{
      {"deepseek-ai/DeepSeek-R1", 671e9, 37e9, 2 * kMla, "fp8_block", "fp8_block", "bfloat16"},
      {"deepseek-ai/DeepSeek-V3", 671e9, 37e9, 2 * kMla, "fp8_block", "fp8_block", "bfloat16"},
      {"deepseek-ai/DeepSeek-V3.2", 671e9, 37e9, 2 * kMla, "fp8_block", "fp8_block", "bfloat16"},
      {"nvidia/DeepSeek-R1-NVFP4", 671e9, 37e9, kMla, "bfloat16", "nvfp4", "fp8"},
      {"nvidia/DeepSeek-V3.1-NVFP4", 671e9, 37e9, kMla, "bfloat16", "nvfp4", "fp8"},
      {"moonshotai/Kimi-K2-Instruct", 1026.4e9, 32e9, 2 * kMla, "fp8_block", "fp8_block", "bfloat16"},
      {"moonshotai/Kimi-K2.5", 1026.4e9, 32e9, 2 * kMla, "bfloat16", "int4_wo", "bfloat16"},
      {"nvidia/Kimi-K2.5-NVFP4", 1026.4e9, 32e9, kMla, "bfloat16", "nvfp4", "fp8"},
      {"meta-llama/Llama-3.1-8B-Instruct", 8030261248, 8030261248, 131072, "bfloat16", "bfloat16", "bfloat16"},
      {"nvidia/Llama-3.1-8B-Instruct-FP8", 8030261248, 8030261248, 65536, "fp8", "fp8", "fp8"},
      {"meta-llama/Llama-3.1-70B", 70553706496, 70553706496, 327680, "bfloat16", "bfloat16", "bfloat16"},
      {"meta-llama/Llama-3.1-405B", 405853388800, 405853388800, 516096, "bfloat16", "bfloat16", "bfloat16"},
      {"nvidia/Llama-3.1-405B-Instruct-FP8", 405853388800, 405853388800, 258048, "fp8", "fp8", "fp8"},
      {"meta-llama/Llama-4-Scout-17B-16E-Instruct", 107.77e9, 17.17e9 - 202048.0 * 5120.0, 196608, "bfloat16",
       "bfloat16", "bfloat16"},
      {"meta-llama/Llama-4-Maverick-17B-128E-Instruct", 400.71e9, 17.2e9 - 202048.0 * 5120.0, 196608, "bfloat16",
       "bfloat16", "bfloat16"},
      {"Qwen/Qwen3-32B", 32762123264, 32762123264, 262144, "bfloat16", "bfloat16", "bfloat16"},
      {"nvidia/Qwen3-32B-NVFP4", 32762123264, 32762123264, 131072, "nvfp4", "nvfp4", "fp8"},
      {"Qwen/Qwen3-235B-A22B", 235.09e9, 22e9, 192512, "bfloat16", "bfloat16", "bfloat16"},
      {"Qwen/Qwen3-235B-A22B-FP8", 235.09e9, 22e9, 192512, "fp8_block", "fp8_block", "bfloat16"},
      {"Qwen/Qwen3-30B-A3B", 30.53e9, 3.3e9 - 151936.0 * 2048.0, 98304, "bfloat16", "bfloat16", "bfloat16"},
      {"Qwen/Qwen3.5-397B-A17B", 397e9, 17e9, 30720, "bfloat16", "bfloat16", "bfloat16"},
      {"zai-org/GLM-4.5", 352.8e9, 32e9, 376832, "bfloat16", "bfloat16", "bfloat16"},
      {"zai-org/GLM-4.5-Air-FP8", 106.85e9, 12.8e9, 188416, "fp8", "fp8", "bfloat16"},
      {"zhipuai/GLM-5", 744e9, 40e9, 89856, "bfloat16", "bfloat16", "bfloat16"},
      {"MiniMaxAI/MiniMax-M2.5", 228.7e9, 11e9, 253952, "fp8_block", "fp8_block", "bfloat16"},
      {"openai/gpt-oss-120b", 116.83e9, 5.13e9, 73728, "bfloat16", "w4a16_mxfp4", "bfloat16"},
      {"openai/gpt-oss-20b", 20.91e9, 3.61e9, 49152, "bfloat16", "w4a16_mxfp4", "bfloat16"},
      {"mistralai/Mixtral-8x7B-Instruct-v0.1", 46.7e9, 12.9e9, 131072, "bfloat16", "bfloat16", "bfloat16"},
      {"google/gemma-3-27b-it", 27.01e9, 27.01e9, 507904, "bfloat16", "bfloat16", "bfloat16"},
      {"microsoft/phi-4", 14.66e9, 14.66e9, 204800, "bfloat16", "bfloat16", "bfloat16"}};
  for (const Expected& expected : all) {
    SCOPED_TRACE(expected.name);
    const auto model = library().describe(expected.name);
    ASSERT_TRUE(model.ok()) << model.error().message;
    const ModelCounts counts = count(*model);
    EXPECT_NEAR(counts.parameters / expected.parameters, 1.0, 0.005) << counts.parameters;
    EXPECT_NEAR(counts.active_parameters / expected.active, 1.0, 0.06) << counts.active_parameters;
    EXPECT_EQ(counts.kv_bytes_per_token.value(), expected.kv_bytes);
    EXPECT_EQ(model->formats.attention, expected.attention);
    EXPECT_EQ(model->layers.back().moe ? model->formats.experts : model->formats.dense_ffn, expected.experts_or_ffn);
    EXPECT_EQ(model->formats.kv_cache, expected.kv_cache);
  }
}

TEST(BuiltinModels, AllReadAndAnswerInAnyCase) {
  const auto names = library().names();
  ASSERT_TRUE(names.ok()) << names.error().message;
  ASSERT_GT(names->size(), 100U);
  std::set<std::string> lowered;
  for (const std::string& name : *names) {
    std::string lower = name;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_TRUE(lowered.insert(lower).second) << name << " twice";
    const auto model = library().describe(lower);
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_EQ(model->name, name);
    EXPECT_GT(count(*model).parameters, 0.0);
  }
}

TEST(BuiltinModels, AgreeWithThePublishedConfigs) {
  const fs::path folder = data_path("files/hfconfig");
  if (!fs::exists(folder)) GTEST_SKIP() << "no configs at " << folder << ": set ROOFCAL_DATA";
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto published = library().describe(entry.path().string());
    ASSERT_TRUE(published.ok()) << published.error().message;
    const auto builtin = library().describe(published->name);
    if (!builtin) continue;
    ++compared;
    EXPECT_EQ(builtin->layers, published->layers) << published->name;
    EXPECT_EQ(count(*builtin).parameters, count(*published).parameters) << published->name;
  }
  EXPECT_GE(compared, 12);
}

TEST(BuiltinModels, HoldEveryModelOfTheServingMeasurements) {
  const fs::path file = data_path("e2e/serving.csv");
  if (!fs::exists(file)) GTEST_SKIP() << "no serving measurements at " << file << ": set ROOFCAL_DATA";
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  const auto cell = [](const std::string& text, std::size_t at) {
    std::istringstream cells(text);
    std::string value;
    for (std::size_t i = 0; i <= at; ++i) std::getline(cells, value, ',');
    return value;
  };
  std::size_t column = 0;
  while (column < 100 && cell(line, column) != "model_path") ++column;
  ASSERT_LT(column, 100U) << "serving.csv has no column model_path";
  std::set<std::string> names;
  while (std::getline(in, line)) names.insert(cell(line, column));
  EXPECT_GE(names.size(), 10U);
  for (const std::string& name : names) {
    const auto model = library().describe(name);
    EXPECT_TRUE(model.ok()) << model.error().message;
  }
}

TEST(BuiltinModels, UnknownNamesSuggestCloseOnes) {
  const auto unknown = library().describe("Qwen/Qwen3-32");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::usage);
  EXPECT_THAT(unknown.error().message, AllOf(HasSubstr("'Qwen/Qwen3-32'"), HasSubstr("Qwen/Qwen3-32B")));
  const auto like_none = library().describe("nope.json");
  ASSERT_FALSE(like_none.ok());
  EXPECT_THAT(like_none.error().message, ::testing::Not(HasSubstr("did you mean")));
  const auto without_owner = library().describe("gpt-oss-120");
  ASSERT_FALSE(without_owner.ok());
  EXPECT_THAT(without_owner.error().message, HasSubstr("did you mean openai/gpt-oss-120b"));
}

TEST(ModelFolders, NameTheirModelAndMayHoldModelOptsFile) {
  const fs::path folder = fs::path(::testing::TempDir()) / "roofcal-models-test" / "My-Model-NVFP4";
  fs::create_directories(folder);
  fs::remove(folder / "hf_quant_config.json");
  std::ofstream(folder / "config.json")
      << R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
             "intermediate_size": 128, "vocab_size": 100})";
  const auto plain = library().describe(folder.string());
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_EQ(plain->name, "My-Model-NVFP4");
  EXPECT_EQ(plain->formats.dense_ffn, "bfloat16");
  ASSERT_EQ(plain->notes.size(), 1U);
  EXPECT_THAT(plain->notes[0], AllOf(StartsWith("the name says NVFP4"), HasSubstr("hf_quant_config.json")));

  std::ofstream(folder / "hf_quant_config.json")
      << R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8",
             "group_size": 16, "exclude_modules": ["lm_head"]}})";
  const auto quantised = library().describe((folder / "config.json").string());
  ASSERT_TRUE(quantised.ok()) << quantised.error().message;
  EXPECT_EQ(quantised->formats.dense_ffn, "nvfp4");
  EXPECT_EQ(quantised->formats.kv_cache, "fp8");
  EXPECT_TRUE(quantised->notes.empty());
  fs::remove_all(folder.parent_path());

  const auto absent = library().describe(::testing::TempDir());
  ASSERT_FALSE(absent.ok());
  EXPECT_THAT(absent.error().message, HasSubstr("config.json is not there"));
}

}  // namespace
}  // namespace roofcal::models
