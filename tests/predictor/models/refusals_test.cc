// What is no language model, or lacks something, is refused by the name of what is missing; never counted wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "predictor/models/counts.h"
#include "predictor/models/read_config.h"

namespace roofcal::models {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kLlama = R"("hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256)";

std::string llama(const std::string& more) { return std::string("{") + kLlama + ", " + more + "}"; }

std::string refusal(const std::string& config, const ReadOptions& options = {}) {
  const auto model = read_config(config, "model", "config.json", options);
  EXPECT_FALSE(model.ok()) << config;
  if (model.ok()) return "";
  EXPECT_EQ(model.error().message.find('\n'), std::string::npos) << "one line";
  return model.error().message;
}

TEST(Refusals, BrokenJsonNamesFileAndLine) {
  EXPECT_THAT(refusal("{\n\"hidden_size\": 1,\n\"vocab_size\": }\n"), HasSubstr("config.json:3: "));
  EXPECT_THAT(refusal("{\n\"hidden_size\": 1"), HasSubstr("config.json:2: "));
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("[1, 2]"), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("config.json:1: "));
}

TEST(Refusals, NamesAllFieldsThatAreMissing) {
  EXPECT_THAT(refusal(R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32})"),
              AllOf(HasSubstr("config.json: lacks "), HasSubstr("vocab_size"), HasSubstr("num_hidden_layers"),
                    HasSubstr("intermediate_size"), Not(HasSubstr("hidden_size,"))));
  EXPECT_THAT(refusal(R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "vocab_size": 1000,
                          "num_attention_heads": 128, "intermediate_size": 18432, "n_routed_experts": 256,
                          "num_experts_per_tok": 8, "moe_intermediate_size": 2048})"),
              AllOf(HasSubstr("kv_lora_rank"), HasSubstr("qk_nope_head_dim"), HasSubstr("v_head_dim")));
  // A mixture without the number of its experts is not counted as a dense model.
  EXPECT_THAT(refusal(llama(R"("model_type": "qwen3_moe", "num_experts_per_tok": 8)")), HasSubstr("num_experts"));
  // Heads that do not divide the width tell no head_dim.
  EXPECT_THAT(refusal(R"({"model_type": "llama", "hidden_size": 4100, "num_hidden_layers": 2, "vocab_size": 1000,
                          "num_attention_heads": 32, "intermediate_size": 1000})"),
              HasSubstr("head_dim"));
}

TEST(Refusals, NamesWhatIsMalformed) {
  EXPECT_THAT(refusal(R"({"model_type": "llama", "hidden_size": -1, "num_hidden_layers": 2.5, "vocab_size": "many",
                          "num_attention_heads": 32, "intermediate_size": 1000})"),
              AllOf(HasSubstr("hidden_size is -1"), HasSubstr("num_hidden_layers is 2.5"),
                    HasSubstr(R"(vocab_size is "many")")));
  EXPECT_THAT(refusal(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 2, "vocab_size": 1000,
                          "num_attention_heads": 32, "num_key_value_heads": 7, "intermediate_size": 1000})"),
              HasSubstr("7 key/value heads"));
  EXPECT_THAT(refusal(llama(R"("model_type": "qwen3", "layer_types": ["full_attention"])")),
              HasSubstr("layer_types names 1 layers, num_hidden_layers is 32"));
  EXPECT_THAT(refusal(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2000000000,
                          "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 64})"),
              HasSubstr("num_hidden_layers is 2000000000"));
}

TEST(Refusals, NumbersThatNoModelHas) {
  EXPECT_THAT(refusal(R"({"model_type": "llama", "hidden_size": 1073741824, "num_hidden_layers": 9999,
                          "num_attention_heads": 1024, "intermediate_size": 1073741824, "vocab_size": 1073741824})"),
              HasSubstr("no model has so many"));
  EXPECT_THAT(refusal(llama(R"("model_type": "qwen3", "head_dim": 1099511627776)")),
              HasSubstr("head_dim is 1099511627776"));
  EXPECT_THAT(refusal(llama(R"("model_type": "llama", "quantization_config": [1])")),
              HasSubstr("quantization_config is [1], which is no object"));
}

TEST(Refusals, DraftModels) {
  for (const char* sign : {R"("architectures": ["LlamaForCausalLMEagle3"])", R"("draft_vocab_size": 32000)",
                           R"("architectures": ["MedusaModel"], "medusa_num_heads": 5)",
                           R"("architectures": ["DeepseekV3ForCausalLMNextN"])"}) {
    const std::string config = llama(std::string(R"("model_type": "llama", )") + sign);
    EXPECT_THAT(refusal(config), HasSubstr("draft model")) << config;
    EXPECT_THAT(refusal(config, {.as = "llama"}), HasSubstr("draft model")) << config;
  }
  EXPECT_THAT(refusal(R"({"model_type": "eagle", "architectures": ["EAGLEModel"], "hidden_size": 4096})"),
              HasSubstr("draft model"));
  // EAGLE's first version says that it is a Llama, of one layer.
  EXPECT_THAT(refusal(R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
                          "num_hidden_layers": 1, "num_attention_heads": 32, "intermediate_size": 11008,
                          "vocab_size": 32000})"),
              HasSubstr("num_hidden_layers 1"));
}

TEST(Refusals, Encoders) {
  const std::string bert = llama(R"("model_type": "bert", "architectures": ["BertForMaskedLM"])");
  EXPECT_THAT(refusal(bert), AllOf(HasSubstr("encoder"), HasSubstr("language-model head")));
  EXPECT_THAT(refusal(bert, {.as = "llama"}), HasSubstr("encoder"));
  EXPECT_THAT(refusal(llama(R"("model_type": "t5", "is_encoder_decoder": true)")), HasSubstr("is_encoder_decoder"));
  EXPECT_THAT(refusal(llama(R"("model_type": "mistral", "architectures": ["MistralModel"])")),
              HasSubstr("lacks a language-model head"));
  EXPECT_THAT(refusal(llama(R"("model_type": "llama", "architectures": ["LlamaForSequenceClassification"])")),
              HasSubstr("lacks a language-model head"));
}

TEST(Refusals, UnknownArchitecturesNameAsWithTheFamilies) {
  const std::string config = llama(R"("model_type": "jamba", "architectures": ["JambaForCausalLM"])");
  EXPECT_THAT(refusal(config), AllOf(HasSubstr("JambaForCausalLM"), HasSubstr("--as FAMILY"), HasSubstr("qwen3_moe")));
  EXPECT_THAT(refusal(llama(R"("torch_dtype": "bfloat16")")), HasSubstr("model_type is missing"));
  EXPECT_THAT(refusal(config, {.as = "lama"}), HasSubstr("--as lama is no family"));
  const auto by_hand = read_config(config, "model", "config.json", {.as = "llama"});
  ASSERT_TRUE(by_hand.ok()) << by_hand.error().message;
  EXPECT_EQ(by_hand->family, "llama");
  EXPECT_EQ(count(*by_hand).parameters, 8030261248.0);
}

TEST(Refusals, UnknownQuantizationNeedsADtype) {
  const std::string config = llama(R"("model_type": "llama", "quantization_config": {"quant_method": "bitsandbytes"})");
  EXPECT_THAT(refusal(config), AllOf(HasSubstr("bitsandbytes"), HasSubstr("--dtype")));
  const auto given = read_config(config, "model", "config.json", {.dtype = "fp8"});
  ASSERT_TRUE(given.ok()) << given.error().message;
  EXPECT_EQ(given->formats.attention, "fp8");
  EXPECT_EQ(given->formats.base, "bfloat16");
}

}  // namespace
}  // namespace roofcal::models
