// What a deployment needs of a GPU's memory: shards sum to the model, and known deployments fit or do not.
#include "predictor/step/memory_plan.h"

#include <gtest/gtest.h>

#include "predictor/models/counts.h"
#include "tests/predictor/step/fixtures.h"

namespace roofcal {
namespace {

class Memory : public ::testing::Test {
 protected:
  [[nodiscard]] MemoryPlan plan(const std::string& model, const std::string& gpu, const Parallelism& spread,
                                std::int64_t batch, std::int64_t length) const {
    const models::ModelDescription description = described(model);
    EXPECT_TRUE(check(description, spread)) << model;
    return plan_memory(description, spread, *gpus_.spec(gpu), decode(batch, length), {batch, length});
  }

  const GpuCatalogue gpus_ = *GpuCatalogue::load(ROOFCAL_CATALOGUE);
};

TEST_F(Memory, WeightsOfOneGpuAreTheModels) {
  const auto names = models::ModelLibrary(ROOFCAL_MODELS).names();
  ASSERT_TRUE(names) << names.error().message;
  for (const std::string& name : *names) {
    const models::ModelDescription model = described(name);
    EXPECT_NEAR(stage_weights(model, {}, 0) / models::count(model).weights, 1.0, 0.005) << name;
  }
}

TEST_F(Memory, ShardsSumToTheModelAndWhatIsRepeated) {
  const models::ModelDescription dense = described("meta-llama/Llama-3.1-70B");
  const double whole = stage_weights(dense, {}, 0).value();
  for (const std::int64_t tp : {1, 2, 8}) {
    for (const std::int64_t pp : {1, 3, 4}) {
      double sum = 0.0;
      for (std::int64_t stage = 0; stage < pp; ++stage) {
        sum += stage_weights(dense, {tp, pp, 1, 1}, stage).value() * static_cast<double>(tp);
      }
      EXPECT_NEAR(sum / whole, 1.0, 2e-4) << tp << ' ' << pp;  // norms are on every GPU
    }
  }
  // Attention of each of the eight ranks is a copy, experts are shared out.
  const models::ModelDescription experts = described("Qwen/Qwen3-235B-A22B");
  double parts[models::kPartCount] = {};
  for (const models::Layer& layer : experts.layers) {
    const models::PartCounts counts = models::layer_parameters(experts, layer);
    for (int i = 0; i < models::kPartCount; ++i) parts[i] += counts.parameters[static_cast<std::size_t>(i)];
  }
  const double tables = models::embedding_parameters(experts) + models::head_parameters(experts);
  const double copied =
      parts[static_cast<int>(models::Part::attention)] + parts[static_cast<int>(models::Part::rest)] + tables;
  const double shared = parts[static_cast<int>(models::Part::experts)];
  EXPECT_NEAR(stage_weights(experts, {1, 1, 8, 8}, 0).value() / (2.0 * (copied + shared / 8.0)), 1.0, 1e-6);
}

TEST_F(Memory, CacheIsWhatTheHeadsOfAGpuKeep) {
  const models::ModelDescription model = described("meta-llama/Llama-3.1-70B");
  const double token = 80 * 2.0 * 8 * 128 * 2;  // layers, keys and values, heads, size, bytes
  EXPECT_DOUBLE_EQ(stage_cache(model, {}, 0, 1000).value(), 1000 * token);
  EXPECT_DOUBLE_EQ(stage_cache(model, {4, 1, 1, 1}, 0, 1000).value(), 1000 * token / 4);
  EXPECT_DOUBLE_EQ(stage_cache(model, {16, 1, 1, 1}, 0, 1000).value(), 1000 * token / 8);  // heads are repeated
  EXPECT_DOUBLE_EQ(stage_cache(model, {1, 2, 1, 1}, 1, 1000).value(), 1000 * token / 2);
  // Latents are on every GPU.
  const models::ModelDescription latent = described("deepseek-ai/DeepSeek-V3");
  EXPECT_DOUBLE_EQ(stage_cache(latent, {8, 1, 8, 1}, 0, 1000).value(),
                   1000 * models::count(latent).kv_bytes_per_token.value());
  // Layers with a window keep no more than that: 52 of 62 layers of 16 heads of 128.
  const models::ModelDescription sliding = described("google/gemma-3-27b-it");
  EXPECT_DOUBLE_EQ(stage_cache(sliding, {}, 0, 10000).value(), 2.0 * 16 * 128 * 2 * (10 * 10000 + 52 * 1024));
  EXPECT_DOUBLE_EQ(stage_cache(sliding, {}, 0, 500).value(), 500 * models::count(sliding).kv_bytes_per_token.value());
  // Linear attention keeps a state whatever the length.
  const models::ModelDescription linear = described("Qwen/Qwen3.5-397B-A17B");
  const models::ModelCounts counts = models::count(linear);
  EXPECT_DOUBLE_EQ(stage_cache(linear, {}, 0, 1000).value(),
                   1000 * counts.kv_bytes_per_token.value() + counts.state_bytes_per_sequence.value());
}

TEST_F(Memory, KnownDeployments) {
  EXPECT_FALSE(plan("meta-llama/Llama-3.1-70B", "h200_sxm", {}, 1, 1000).fits);  // 141 GB of weights
  EXPECT_TRUE(plan("meta-llama/Llama-3.1-70B", "h200_sxm", {2, 1, 1, 1}, 1, 1000).fits);
  EXPECT_FALSE(plan("meta-llama/Llama-3.1-405B", "h100_sxm", {8, 1, 1, 1}, 1, 1000).fits);  // 810 GB of 640
  EXPECT_FALSE(plan("deepseek-ai/DeepSeek-V3", "h100_sxm", {8, 1, 8, 1}, 1, 1000).fits);    // 671 GB of 640
  EXPECT_TRUE(plan("deepseek-ai/DeepSeek-V3", "h200_sxm", {8, 1, 8, 1}, 1, 1000).fits);
  EXPECT_TRUE(plan("Qwen/Qwen3-8B", "l40s", {}, 1, 1000).fits);
  EXPECT_TRUE(plan("openai/gpt-oss-120b", "h100_sxm", {}, 1, 1000).fits);  // made for one 80 GB GPU
}

TEST_F(Memory, TokensLeftAreWhatFits) {
  for (const std::int64_t batch : {1, 50, 400}) {
    const std::int64_t length = 4000;
    const MemoryPlan now = plan("meta-llama/Llama-3.1-70B", "h200_sxm", {4, 1, 1, 1}, batch, length);
    EXPECT_EQ(now.fits, batch * length <= now.cache_tokens) << batch;
    if (now.fits) {
      EXPECT_NEAR(static_cast<double>(now.cache_tokens - batch * length), static_cast<double>(now.cache_tokens_left),
                  1.0);
    } else {
      EXPECT_EQ(now.cache_tokens_left, 0);
    }
  }
  const MemoryPlan none = plan("meta-llama/Llama-3.1-70B", "h200_sxm", {}, 1, 1000);
  EXPECT_EQ(none.cache_tokens, 0);
}

}  // namespace
}  // namespace roofcal
