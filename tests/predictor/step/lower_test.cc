// What a model's operators sum to: nothing is lost or counted twice, however the model is spread.
#include "predictor/step/lower.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/attention.h"
#include "core/moe.h"
#include "predictor/models/counts.h"
#include "predictor/models/library.h"
#include "tests/predictor/step/fixtures.h"

namespace roofcal {
namespace {

using models::ModelDescription;

double flops(const std::vector<LoweredOperator>& operators, const StepTokens& tokens) {
  double sum = 0.0;
  for (const LoweredOperator& one : operators) {
    if (const auto work = work_of(one, tokens)) sum += one.count * work->flops.value();
  }
  return sum;
}

// Parameters that one token multiplies by.
double active_weights(const std::vector<LoweredOperator>& operators) {
  double sum = 0.0;
  for (const LoweredOperator& one : operators) {
    if (one.shares_weights) continue;
    double share = 1.0;
    if (const auto* moe = std::get_if<MoeSizes>(&one.sizes)) {
      share = static_cast<double>(moe->topk) / static_cast<double>(moe->experts);
    }
    sum += one.count * one.weights * share;
  }
  return sum;
}

double expected_active_weights(const ModelDescription& model) {
  const models::ModelCounts counts = models::count(model);
  const bool has_experts = counts.active_parameters < counts.parameters * 0.999;
  const bool counts_embedding = !has_experts && !model.tied;
  return counts.active_parameters - (counts_embedding ? models::embedding_parameters(model) : 0.0);
}

TEST(Lowering, WeightsSumToTheActiveParametersOfEveryBuiltInModel) {
  const auto names = models::ModelLibrary(ROOFCAL_MODELS).names();
  ASSERT_TRUE(names) << names.error().message;
  ASSERT_GT(names->size(), 20U);
  for (const std::string& name : *names) {
    const ModelDescription model = described(name);
    const double expected = expected_active_weights(model);
    // Norms, biases and scales are in no product.
    EXPECT_NEAR(active_weights(lower(model, {})) / expected, 1.0, 0.003) << name;
  }
}

TEST(Lowering, FlopsOfADecodedTokenAreTwiceTheActiveWeightsAndTheAttention) {
  const auto names = models::ModelLibrary(ROOFCAL_MODELS).names();
  ASSERT_TRUE(names) << names.error().message;
  for (const std::string& name : *names) {
    const ModelDescription model = described(name);
    const std::int64_t context = 1000;
    double attention = 0.0;
    for (const models::Layer& layer : model.layers) {
      if (const auto* a = std::get_if<models::Attention>(&layer.mixer)) {
        const double seen = static_cast<double>(a->window > 0 ? std::min(a->window, context) : context);
        attention += 4.0 * static_cast<double>(a->heads * a->head_dim) * seen;
      } else if (const auto* m = std::get_if<models::Mla>(&layer.mixer)) {
        attention += 2.0 * static_cast<double>(m->heads * (2 * m->kv_rank + m->rope_dim) * context);
        if (m->indexer) attention += 2.0 * static_cast<double>(m->indexer->heads * m->indexer->head_dim * context);
      } else if (const auto* l = std::get_if<models::LinearAttention>(&layer.mixer)) {
        attention += 7.0 * static_cast<double>(l->value_heads * l->key_dim * l->value_dim);
      }
    }
    const double expected = 2.0 * expected_active_weights(model) + attention;
    EXPECT_NEAR(flops(lower(model, {}), decode(1, context)) / expected, 1.0, 0.003) << name;
  }
}

// Llama 3 herd of models, table 3, by hand: 80 layers of 8192 x (64 + 2 x 8) x 128, 8192^2, 3 x 8192 x 28672, and a
// head of 128256 x 8192.
TEST(Lowering, FlopsOfLlama70BByHand) {
  const ModelDescription model = described("meta-llama/Llama-3.1-70B");
  const double layer = 8192.0 * 80 * 128 + 8192.0 * 8192 + 3.0 * 8192 * 28672;
  const double head = 128256.0 * 8192;
  EXPECT_DOUBLE_EQ(flops(lower(model, {}), decode(1, 4096)), 2.0 * (80 * layer + head) + 80 * 4.0 * 8192 * 4096);
  // A prompt asks for the successor of its last token only; each token sees those before it.
  EXPECT_DOUBLE_EQ(flops(lower(model, {}), prefill(2, 1000)),
                   2.0 * (2000 * 80 * layer + 2 * head) + 2 * 80 * 4.0 * 8192 * causal_pairs(1000, 0, 0));
  // A cached prefix is not computed again but looked at.
  EXPECT_DOUBLE_EQ(flops(lower(model, {}), prefill(1, 1000, 3000)),
                   2.0 * (1000 * 80 * layer + head) + 80 * 4.0 * 8192 * causal_pairs(1000, 3000, 0));
}

// DeepSeek-V3 report: 37 billion activated parameters; 2 x that a token, and the latent attention.
TEST(Lowering, FlopsOfDeepSeekV3) {
  const ModelDescription model = described("deepseek-ai/DeepSeek-V3");
  const double a_token = flops(lower(model, {}), decode(1, 1));
  EXPECT_NEAR(a_token / (2.0 * 36.6e9), 1.0, 0.02);
}

// All GPUs of a stage together do what one would: sizes divide, and what every GPU does for itself is known.
TEST(Lowering, ShardsOfADenseModelSumToTheWhole) {
  const ModelDescription model = described("meta-llama/Llama-3.1-70B");
  for (const StepTokens& tokens : {decode(16, 2000), prefill(2, 3000)}) {
    const double whole = flops(lower(model, {}), tokens);
    for (const std::int64_t tp : {2, 4, 8}) {
      for (const std::int64_t pp : {1, 2, 4}) {
        const Parallelism spread{tp, pp, 1, 1};
        ASSERT_TRUE(check(model, spread));
        // A token passes all stages one after the other: the step holds the work of one GPU of each.
        EXPECT_DOUBLE_EQ(flops(lower(model, spread), tokens) * static_cast<double>(tp), whole) << tp << ' ' << pp;
        EXPECT_DOUBLE_EQ(active_weights(lower(model, spread)) * static_cast<double>(tp),
                         active_weights(lower(model, {})));
        EXPECT_EQ(spread.gpus(), tp * pp);
      }
    }
  }
}

TEST(Lowering, ExpertShardsSumToTheWhole) {
  const ModelDescription model = described("Qwen/Qwen3-235B-A22B");
  // 128 tokens that take 8 of 128 experts evenly: 8 tokens an expert.
  const auto experts = [&](const Parallelism& spread, const StepTokens& tokens) {
    double work = 0.0;
    double weights = 0.0;
    for (const LoweredOperator& one : lower(model, spread)) {
      if (!std::holds_alternative<MoeSizes>(one.sizes)) continue;
      work += one.count * work_of(one, tokens)->flops.value();
      weights += one.count * one.weights;
    }
    return std::pair{work, weights};
  };
  const auto whole = experts({}, decode(128, 500));
  EXPECT_DOUBLE_EQ(whole.first, 94 * 2.0 * 128 * 8 * 3 * 4096 * 1536);
  EXPECT_DOUBLE_EQ(whole.second, 94.0 * 128 * 3 * 4096 * 1536);
  for (const Parallelism& spread : {Parallelism{4, 1, 1, 1}, Parallelism{4, 1, 4, 1}, Parallelism{4, 2, 2, 1},
                                    Parallelism{1, 1, 8, 8}, Parallelism{2, 1, 8, 4}, Parallelism{1, 1, 2, 8}}) {
    ASSERT_TRUE(check(model, spread)) << to_string(spread);
    const auto part = experts(spread, decode(128 / spread.dp, 500));
    EXPECT_DOUBLE_EQ(part.first * static_cast<double>(spread.stage_gpus()), whole.first) << to_string(spread);
    EXPECT_DOUBLE_EQ(part.second * static_cast<double>(spread.stage_gpus()), whole.second) << to_string(spread);
  }
}

// More GPUs than key/value heads: each head is kept and projected on several of them.
TEST(Lowering, KeyValueHeadsAreRepeated) {
  const ModelDescription model = described("Qwen/Qwen3-30B-A3B");  // 32 query heads on 4 key/value heads of 128
  const auto find = [&](const Parallelism& spread, const char* op) {
    for (const LoweredOperator& one : lower(model, spread)) {
      if (one.op == op) return one;
    }
    ADD_FAILURE() << op;
    return LoweredOperator{};
  };
  EXPECT_EQ(std::get<AttentionSizes>(find({8, 1, 1, 1}, "generation_attention").sizes), (AttentionSizes{4, 1, 128, 0}));
  EXPECT_EQ(std::get<GemmSizes>(find({8, 1, 1, 1}, "gemm").sizes), (GemmSizes{Rows::tokens, (4 + 2) * 128, 2048}));
}

// Matrix products of a mixed step see all tokens at once; attention works on each kind by itself.
TEST(Lowering, MixedStepsShareProductsAndSplitAttention) {
  const ModelDescription model = described("Qwen/Qwen3-32B");
  StepTokens tokens = decode(64, 3000);
  tokens.prefill = {1, 1984, 0};
  const auto operators = lower(model, {4, 1, 1, 1});
  for (const LoweredOperator& one : operators) {
    const auto shape = shape_of(one, tokens);
    if (one.op == "gemm") {
      EXPECT_EQ((*shape)[0], one.name == "logits" ? 65 : 2048) << one.name;
    } else if (one.op == "context_attention") {
      EXPECT_EQ(*shape, (Shape{1, 1984, 16, 2, 128, 0, 0}));
    } else if (one.op == "generation_attention") {
      EXPECT_EQ(*shape, (Shape{64, 3000, 16, 2, 128, 0}));
    }
  }
  const double parts = flops(operators, decode(64, 3000)) + flops(operators, prefill(1, 1984));
  EXPECT_NEAR(flops(operators, tokens) / parts, 1.0, 1e-12);
}

TEST(Lowering, SlidingLayersSeeTheirWindow) {
  const ModelDescription model = described("google/gemma-3-27b-it");
  double full = 0.0;
  double sliding = 0.0;
  for (const LoweredOperator& one : lower(model, {})) {
    if (one.op != "generation_attention") continue;
    const auto& sizes = std::get<AttentionSizes>(one.sizes);
    (sizes.window > 0 ? sliding : full) += one.count;
    if (sizes.window > 0) {
      EXPECT_EQ(sizes.window, 1024);
    }
  }
  EXPECT_EQ(full, 10.0);  // of 62 layers every sixth
  EXPECT_EQ(sliding, 52.0);
}

TEST(Lowering, CommunicationBelongsToTheSpread) {
  const auto kinds = [](const ModelDescription& model, const Parallelism& spread) {
    std::vector<std::string> out;
    for (const LoweredOperator& one : lower(model, spread)) {
      if (one.op != "collective") continue;
      out.push_back(one.attributes.at("collective") + "/" + one.attributes.at("ranks"));
    }
    return out;
  };
  const ModelDescription dense = described("meta-llama/Llama-3.1-70B");
  EXPECT_TRUE(kinds(dense, {}).empty());
  EXPECT_EQ(kinds(dense, {4, 1, 1, 1}), (std::vector<std::string>{"all_reduce/4", "all_gather/4"}));
  EXPECT_EQ(kinds(dense, {1, 2, 1, 1}), std::vector<std::string>{"send_recv/2"});
  const ModelDescription experts = described("Qwen/Qwen3-235B-A22B");
  EXPECT_EQ(kinds(experts, {1, 1, 8, 8}), (std::vector<std::string>{"all_to_all/8", "all_to_all/8"}));
  EXPECT_EQ(kinds(experts, {1, 1, 1, 8}), (std::vector<std::string>{"all_gather/8", "reduce_scatter/8"}));
  double all_reduces = 0.0;
  for (const LoweredOperator& one : lower(dense, {4, 1, 1, 1})) {
    if (one.name != "all-reduce") continue;
    all_reduces += one.count;
    EXPECT_EQ(shape_of(one, decode(3, 10)), (Shape{3 * 8192 * 2}));
  }
  EXPECT_EQ(all_reduces, 161.0);  // two a layer, one after the embedding
}

TEST(Lowering, DraftsAddPassesAndChecks) {
  const ModelDescription model = described("deepseek-ai/DeepSeek-V3");
  LowerOptions options;
  options.drafting = true;
  const auto operators = lower(model, {}, options);
  StepTokens tokens = decode(8, 2000);
  tokens.decode.drafted = 2;
  for (const LoweredOperator& one : operators) {
    const auto shape = shape_of(one, tokens);
    EXPECT_EQ(one.each_draft, one.name.starts_with("draft: ")) << one.name;
    if (one.op == "gemm" && one.each_draft) {
      EXPECT_EQ((*shape)[0], 8) << one.name;
    } else if (one.name == "latent projection" || one.name == "logits") {
      EXPECT_EQ((*shape)[0], 24) << one.name;  // the new token and two that were drafted
    }
  }
  for (const LoweredOperator& one : operators) {
    if (one.each_draft) {
      EXPECT_FALSE(work_of(one, decode(8, 2000))) << one.name;
    }
  }
}

TEST(Parallelism, CountsEveryGpu) {
  for (std::int64_t tp : {1, 2, 8}) {
    for (std::int64_t pp : {1, 3}) {
      for (std::int64_t dp : {1, 4}) {
        EXPECT_EQ((Parallelism{tp, pp, 1, dp}).gpus(), tp * pp * dp);
        EXPECT_EQ((Parallelism{tp, pp, tp * dp, dp}).gpus(), tp * pp * dp);  // experts live on the same GPUs
      }
    }
  }
}

TEST(Parallelism, RefusesWhatDoesNotDivide) {
  const ModelDescription dense = described("meta-llama/Llama-3.1-70B");
  const ModelDescription experts = described("Qwen/Qwen3-235B-A22B");
  const auto complaint = [](const ModelDescription& model, const Parallelism& spread) {
    const auto checked = check(model, spread);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(complaint(dense, {3, 1, 1, 1}), "64 attention heads cannot be split over --tp 3: it must divide them");
  EXPECT_NE(complaint(dense, {1, 81, 1, 1}).find("80 layers"), std::string::npos);
  EXPECT_NE(complaint(dense, {8, 1, 8, 1}).find("no experts"), std::string::npos);
  EXPECT_NE(complaint(experts, {1, 1, 8, 1}).find("--tp 8 --ep 8 or --dp 8 --ep 8"), std::string::npos);
  EXPECT_EQ(complaint(experts, {4, 1, 8, 2}), "");
  EXPECT_FALSE(check(dense, {0, 1, 1, 1}));
  EXPECT_FALSE(check(dense, {1 << 15, 1 << 15, 1, 1}));
}

TEST(Parallelism, StagesShareOutAllLayers) {
  for (const std::int64_t layers : {1, 61, 80}) {
    for (const std::int64_t stages : {1, 2, 3, 7, 61}) {
      if (stages > layers) continue;
      std::int64_t next = 0;
      for (std::int64_t stage = 0; stage < stages; ++stage) {
        const StageLayers part = stage_layers(layers, stages, stage);
        EXPECT_EQ(part.first, next);
        next += part.count;
      }
      EXPECT_EQ(next, layers);
    }
  }
}

}  // namespace
}  // namespace roofcal
