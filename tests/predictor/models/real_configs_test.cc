// Published configs, as their users have them, against the counts that their makers published. The files are not part
// of this repository: they are read from $ROOFCAL_DATA/files/hfconfig.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <string>

#include "predictor/models/counts.h"
#include "predictor/models/library.h"
#include "tests/predictor/models/data_path.h"

namespace roofcal::models {
namespace {

namespace fs = std::filesystem;

struct Published {
  std::string file;       // without ".config.json"
  double parameters;      // language model, without multi-token-prediction layers
  double active;          // for one token
  double kv_bytes;        // a token, by the cache's format
  std::string attention;  // formats of weights
  std::string feed_forward;
};

class RealConfig : public ::testing::TestWithParam<Published> {};

TEST_P(RealConfig, HasThePublishedCounts) {
  const fs::path folder = data_path("files/hfconfig");
  if (!fs::exists(folder)) GTEST_SKIP() << "no configs at " << folder << ": set ROOFCAL_DATA";
  const Published& published = GetParam();
  const auto model = ModelLibrary("/nowhere").describe((folder / (published.file + ".config.json")).string());
  ASSERT_TRUE(model.ok()) << model.error().message;
  const ModelCounts counts = count(*model);
  EXPECT_NEAR(counts.parameters / published.parameters, 1.0, 0.005) << counts.parameters;
  EXPECT_NEAR(counts.active_parameters / published.active, 1.0, 0.06) << counts.active_parameters;
  EXPECT_EQ(counts.kv_bytes_per_token.value(), published.kv_bytes);
  EXPECT_EQ(model->formats.attention, published.attention);
  EXPECT_EQ(model->layers.back().moe ? model->formats.experts : model->formats.dense_ffn, published.feed_forward);
  // "owner--name" is how the files write "owner/name".
  std::string name = published.file;
  name.replace(name.find("--"), 2, "/");
  EXPECT_EQ(model->name, name);
}

constexpr double kMla = 61.0 * 576.0 * 2.0;

INSTANTIATE_TEST_SUITE_P(
    Files, RealConfig,
    ::testing::Values(
        Published{"MiniMaxAI--MiniMax-M2.5", 228.7e9, 11.0e9, 62 * 2 * 8 * 128 * 2.0, "fp8_block", "fp8_block"},
        Published{"Qwen--Qwen3-32B", 32.76e9, 32.76e9, 64 * 2 * 8 * 128 * 2.0, "bfloat16", "bfloat16"},
        Published{"Qwen--Qwen3.5-397B-A17B", 397e9, 17e9, 15 * 2 * 2 * 256 * 2.0, "bfloat16", "bfloat16"},
        Published{"deepseek-ai--DeepSeek-R1", 671e9, 37e9, kMla, "fp8_block", "fp8_block"},
        Published{"deepseek-ai--DeepSeek-V3", 671e9, 37e9, kMla, "fp8_block", "fp8_block"},
        Published{"deepseek-ai--DeepSeek-V3.2", 671e9, 37e9, kMla, "fp8_block", "fp8_block"},
        // Published as 17.17e9, which counts the input embedding too.
        Published{"meta-llama--Llama-4-Scout-17B-16E-Instruct", 107.77e9, 17.17e9 - 202048.0 * 5120.0,
                  48 * 2 * 8 * 128 * 2.0, "bfloat16", "bfloat16"},
        Published{"meta-llama--Meta-Llama-3.1-70B", 70.55e9, 70.55e9, 80 * 2 * 8 * 128 * 2.0, "bfloat16", "bfloat16"},
        Published{"meta-llama--Meta-Llama-3.1-8B", 8.03e9, 8.03e9, 32 * 2 * 8 * 128 * 2.0, "bfloat16", "bfloat16"},
        Published{"microsoft--phi-4", 14.66e9, 14.66e9, 40 * 2 * 10 * 128 * 2.0, "bfloat16", "bfloat16"},
        // The release keeps its formats in a file beside the config, which is not here.
        Published{"nvidia--DeepSeek-V3.1-NVFP4", 671e9, 37e9, kMla, "bfloat16", "bfloat16"},
        // 49 of 80 layers have attention.
        Published{"nvidia--Llama-3_3-Nemotron-Super-49B-v1", 49.87e9, 49.87e9, 49 * 2 * 8 * 128 * 2.0, "bfloat16",
                  "bfloat16"},
        Published{"openai--gpt-oss-120b", 116.83e9, 5.13e9, 36 * 2 * 8 * 64 * 2.0, "bfloat16", "w4a16_mxfp4"},
        Published{"tiiuae--falcon-7b-RefinedWebModel", 6.92e9, 6.92e9, 32 * 2 * 1 * 64 * 2.0, "bfloat16", "bfloat16"},
        Published{"zai-org--GLM-5", 744e9, 40e9, 78 * 576 * 2.0, "bfloat16", "bfloat16"}),
    [](const auto& parameter) {
      std::string name;
      for (const char c : parameter.param.file)
        name.push_back(std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_');
      return name;
    });

}  // namespace
}  // namespace roofcal::models
