// Each family's way of writing a config, with the dimensions that its maker published, against the counts published.
#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "predictor/models/counts.h"
#include "predictor/models/read_config.h"

namespace roofcal::models {
namespace {

constexpr double kRounded = -1.0;  // published as a round number only, further off than the tolerance
constexpr double kSame = 0.0;      // dense: a token touches all parameters

struct Known {
  std::string name;
  double parameters;
  double active;  // published; less the input embedding where the publication counts it
  double kv_bytes;
  std::string config;
};

class FamilyCounts : public ::testing::TestWithParam<Known> {};

TEST_P(FamilyCounts, AreThePublishedOnes) {
  const Known& known = GetParam();
  const auto model = read_config(known.config, known.name, known.name);
  ASSERT_TRUE(model.ok()) << model.error().message;
  const ModelCounts counts = count(*model);
  EXPECT_NEAR(counts.parameters / known.parameters, 1.0, 0.005) << counts.parameters;
  if (known.active == kSame) {
    EXPECT_EQ(counts.active_parameters, counts.parameters);
  } else if (known.active == kRounded) {
    EXPECT_LT(counts.active_parameters, counts.parameters);
  } else {
    EXPECT_NEAR(counts.active_parameters / known.active, 1.0, 0.06) << counts.active_parameters;
  }
  EXPECT_EQ(counts.kv_bytes_per_token.value(), known.kv_bytes);
}

const auto kCases = ::testing::Values(
    // No num_key_value_heads: as many as heads.
    Known{"llama-2-7b", 6738415616, kSame, 524288, R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
      "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
      "vocab_size": 32000})"},
    Known{"llama-3.2-1b", 1235814400, kSame, 32768, R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
      "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
      "intermediate_size": 8192, "vocab_size": 128256, "tie_word_embeddings": true})"},
    Known{"mistral-7b", 7241732096, kSame, 131072, R"({"model_type": "mistral", "architectures": ["MistralForCausalLM"],
      "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "intermediate_size": 14336, "vocab_size": 32000, "sliding_window": 4096})"},
    // head_dim is not hidden_size / heads.
    Known{"mistral-small-24b", 23572403200, kSame, 163840, R"({"model_type": "mistral3",
      "architectures": ["Mistral3ForConditionalGeneration"], "vision_config": {"hidden_size": 1024},
      "text_config": {"model_type": "mistral", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 32,
      "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 32768, "vocab_size": 131072}})"},
    Known{"mixtral-8x22b", 140.62e9, 39.1e9, 229376,
          R"({"model_type": "mixtral", "architectures": ["MixtralForCausalLM"],
      "hidden_size": 6144, "num_hidden_layers": 56, "num_attention_heads": 48, "num_key_value_heads": 8,
      "intermediate_size": 16384, "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000,
      "sliding_window": null})"},
    Known{"qwen2.5-0.5b", 494032768, kSame, 12288, R"({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"],
      "hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2,
      "intermediate_size": 4864, "vocab_size": 151936, "tie_word_embeddings": true})"},
    Known{"qwen2.5-7b", 7615616512, kSame, 57344, R"({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"],
      "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
      "intermediate_size": 18944, "vocab_size": 152064, "sliding_window": 131072, "use_sliding_window": false})"},
    Known{"qwen2.5-72b", 72706203648, kSame, 327680, R"({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"],
      "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
      "intermediate_size": 29568, "vocab_size": 152064})"},
    Known{"qwen1.5-moe-a2.7b", 14315784192, 2.7e9 - 151936.0 * 2048.0, 196608, R"({"model_type": "qwen2_moe",
      "architectures": ["Qwen2MoeForCausalLM"], "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16,
      "num_key_value_heads": 16, "intermediate_size": 5632, "moe_intermediate_size": 1408,
      "shared_expert_intermediate_size": 5632, "num_experts": 60, "num_experts_per_tok": 4, "decoder_sparse_step": 1,
      "vocab_size": 151936})"},
    Known{"qwen2-57b-a14b", 57.41e9, 14e9, 57344, R"({"model_type": "qwen2_moe",
      "architectures": ["Qwen2MoeForCausalLM"], "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28,
      "num_key_value_heads": 4, "intermediate_size": 18944, "moe_intermediate_size": 2560,
      "shared_expert_intermediate_size": 20480, "num_experts": 64, "num_experts_per_tok": 8, "decoder_sparse_step": 1,
      "vocab_size": 151936})"},
    // Three layers of linear attention to one of gated attention; the config names no layer types.
    Known{"qwen3-next-80b-a3b", 79.67e9, kRounded, 24576, R"({"model_type": "qwen3_next",
      "architectures": ["Qwen3NextForCausalLM"], "hidden_size": 2048, "num_hidden_layers": 48,
      "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "full_attention_interval": 4,
      "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128,
      "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "intermediate_size": 5120,
      "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512, "num_experts": 512,
      "num_experts_per_tok": 10, "decoder_sparse_step": 1, "mlp_only_layers": [], "vocab_size": 151936})"},
    Known{"nemotron-4-340b", 341e9, kSame, 589824, R"({"model_type": "nemotron",
      "architectures": ["NemotronForCausalLM"], "hidden_size": 18432, "num_hidden_layers": 96,
      "num_attention_heads": 96, "num_key_value_heads": 8, "intermediate_size": 73728, "vocab_size": 256000})"},
    Known{"deepseek-v2", 235.74e9, 21e9, 69120, R"({"model_type": "deepseek_v2",
      "architectures": ["DeepseekV2ForCausalLM"], "hidden_size": 5120, "num_hidden_layers": 60,
      "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 12288, "moe_intermediate_size": 1536,
      "n_routed_experts": 160, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
      "moe_layer_freq": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
      "v_head_dim": 128, "vocab_size": 102400})"},
    // Queries without a latent.
    Known{"deepseek-v2-lite", 15706484224, 2.4e9, 31104, R"({"model_type": "deepseek_v2",
      "architectures": ["DeepseekV2ForCausalLM"], "hidden_size": 2048, "num_hidden_layers": 27,
      "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 10944, "moe_intermediate_size": 1408,
      "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
      "moe_layer_freq": 1, "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
      "v_head_dim": 128, "vocab_size": 102400})"},
    // The language model below two levels, as the multimodal release has it.
    Known{"kimi-k2.5", 1026.4e9, 32e9, 70272, R"({"model_type": "kimi_k25",
      "architectures": ["KimiK25ForConditionalGeneration"], "text_config": {"model_type": "kimi_k2",
      "architectures": ["DeepseekV3ForCausalLM"], "hidden_size": 7168, "num_hidden_layers": 61,
      "num_attention_heads": 64, "num_key_value_heads": 64, "intermediate_size": 18432, "moe_intermediate_size": 2048,
      "n_routed_experts": 384, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1,
      "moe_layer_freq": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
      "v_head_dim": 128, "vocab_size": 163840}})"},
    Known{"glm-4-9b-0414", 9400279040, kSame, 40960, R"({"model_type": "glm4", "architectures": ["Glm4ForCausalLM"],
      "attention_bias": false, "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32,
      "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 13696, "vocab_size": 151552})"},
    Known{"gemma-2-2b", 2614341888, kSame, 106496, R"({"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"],
      "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
      "intermediate_size": 9216, "vocab_size": 256000, "sliding_window": 4096})"},
    Known{"gemma-2-27b", 27227128320, kSame, 376832, R"({"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"],
      "hidden_size": 4608, "num_hidden_layers": 46, "num_attention_heads": 32, "num_key_value_heads": 16,
      "head_dim": 128, "intermediate_size": 36864, "vocab_size": 256000, "sliding_window": 4096})"},
    Known{"gemma-3-1b", 999885952, kSame, 26624,
          R"({"model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"],
      "hidden_size": 1152, "num_hidden_layers": 26, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256,
      "intermediate_size": 6912, "vocab_size": 262144, "sliding_window": 512, "sliding_window_pattern": 6})"},
    // Heads, head_dim, vocabulary and tying are the family's defaults.
    Known{"gemma-3-4b", 3.88e9, kSame, 139264, R"({"model_type": "gemma3",
      "architectures": ["Gemma3ForConditionalGeneration"], "text_config": {"model_type": "gemma3_text",
      "hidden_size": 2560, "num_hidden_layers": 34, "intermediate_size": 10240, "sliding_window": 1024}})"},
    // Full layers have heads of 512, four key heads, and no value projection.
    Known{"gemma-4-31b", 30.7e9, kSame, 50 * 2 * 16 * 256 * 2.0 + 10 * 2 * 4 * 512 * 2.0, R"({"model_type": "gemma4",
      "architectures": ["Gemma4ForConditionalGeneration"], "text_config": {"model_type": "gemma4_text",
      "attention_k_eq_v": true, "hidden_size": 5376, "num_hidden_layers": 60, "num_attention_heads": 32,
      "num_key_value_heads": 16, "num_global_key_value_heads": 4, "head_dim": 256, "global_head_dim": 512,
      "intermediate_size": 21504, "hidden_size_per_layer_input": 0, "sliding_window": 1024, "vocab_size": 262144}})"},
    Known{"gemma-4-26b-a4b", 25.2e9, 3.8e9, 25 * 2 * 8 * 256 * 2.0 + 5 * 2 * 2 * 512 * 2.0, R"({"model_type": "gemma4",
      "architectures": ["Gemma4ForConditionalGeneration"], "text_config": {"model_type": "gemma4_text",
      "attention_k_eq_v": true, "enable_moe_block": true, "hidden_size": 2816, "num_hidden_layers": 30,
      "num_attention_heads": 16, "num_key_value_heads": 8, "num_global_key_value_heads": 2, "head_dim": 256,
      "global_head_dim": 512, "intermediate_size": 2112, "moe_intermediate_size": 704, "num_experts": 128,
      "top_k_experts": 8, "hidden_size_per_layer_input": null, "sliding_window": 1024, "vocab_size": 262144}})"},
    // Published as 5.1e9 with encoders of about 150e6 (images) and 300e6 (sound).
    // 20 of 35 layers use an earlier layer's cache; every layer has an embedding of its own.
    Known{"gemma-4-e2b", 5.1e9 - 150e6 - 300e6, kSame, 12 * 2 * 256 * 2.0 + 3 * 2 * 512 * 2.0,
          R"({"model_type": "gemma4",
      "architectures": ["Gemma4ForConditionalGeneration"], "text_config": {"model_type": "gemma4_text",
      "hidden_size": 1536, "num_hidden_layers": 35, "num_attention_heads": 8, "num_key_value_heads": 1,
      "head_dim": 256, "global_head_dim": 512, "intermediate_size": 6144, "num_kv_shared_layers": 20,
      "use_double_wide_mlp": true, "hidden_size_per_layer_input": 256, "vocab_size_per_layer_input": 262144,
      "sliding_window": 512, "vocab_size": 262144, "layer_types": [
      "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
      "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
      "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
      "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
      "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
      "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
      "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]}})"},
    Known{"phi-2", 2779683840, kSame, 327680, R"({"model_type": "phi", "architectures": ["PhiForCausalLM"],
      "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": null,
      "intermediate_size": 10240, "vocab_size": 51200})"},
    Known{"phi-3-mini", 3821079552, kSame, 393216, R"({"model_type": "phi3", "architectures": ["Phi3ForCausalLM"],
      "hidden_size": 3072, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "intermediate_size": 8192, "vocab_size": 32064, "sliding_window": 2047})"},
    Known{"phi-4-mini", 3836021760, kSame, 131072, R"({"model_type": "phi3", "architectures": ["Phi3ForCausalLM"],
      "hidden_size": 3072, "num_hidden_layers": 32, "num_attention_heads": 24, "num_key_value_heads": 8,
      "intermediate_size": 8192, "vocab_size": 200064, "sliding_window": 262144, "tie_word_embeddings": true})"},
    Known{"phi-3.5-moe", 41.87e9, 6.6e9, 131072, R"({"model_type": "phimoe", "architectures": ["PhiMoEForCausalLM"],
      "attention_bias": true, "lm_head_bias": true, "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 6400, "num_local_experts": 16,
      "num_experts_per_tok": 2, "sliding_window": 131072, "vocab_size": 32064})"},
    Known{"falcon-40b", 41.3e9, kSame, 122880, R"({"model_type": "falcon", "architectures": ["FalconForCausalLM"],
      "bias": false, "new_decoder_architecture": true, "multi_query": true, "parallel_attn": true, "hidden_size": 8192,
      "num_hidden_layers": 60, "num_attention_heads": 128, "num_kv_heads": 8, "vocab_size": 65024})"},
    Known{"falcon-40b-first-names", 41.3e9, kSame, 122880, R"({"model_type": "RefinedWeb",
      "architectures": ["RWForCausalLM"], "bias": false, "parallel_attn": true, "hidden_size": 8192, "n_layer": 60,
      "n_head": 128, "n_head_kv": 8, "vocab_size": 65024})"},
    Known{"falcon-11b", 11103432704, kSame, 245760, R"({"model_type": "falcon", "architectures": ["FalconForCausalLM"],
      "bias": false, "new_decoder_architecture": true, "multi_query": true, "parallel_attn": true, "hidden_size": 4096,
      "num_hidden_layers": 60, "num_attention_heads": 32, "num_kv_heads": 8, "ffn_hidden_size": 16384,
      "vocab_size": 65024, "tie_word_embeddings": false})"},
    Known{"opt-125m", 125239296, kSame, 36864, R"({"model_type": "opt", "architectures": ["OPTForCausalLM"],
      "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "ffn_dim": 3072, "vocab_size": 50272,
      "max_position_embeddings": 2048, "word_embed_proj_dim": 768, "do_layer_norm_before": true,
      "torch_dtype": "float16"})"},
    // A narrower embedding, projected, and no last norm.
    Known{"opt-350m", 331196416, kSame, 98304, R"({"model_type": "opt", "architectures": ["OPTForCausalLM"],
      "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "ffn_dim": 4096, "vocab_size": 50272,
      "max_position_embeddings": 2048, "word_embed_proj_dim": 512, "do_layer_norm_before": false,
      "torch_dtype": "float16"})"},
    Known{"opt-6.7b", 6658473984, kSame, 524288, R"({"model_type": "opt", "architectures": ["OPTForCausalLM"],
      "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "ffn_dim": 16384, "vocab_size": 50272,
      "max_position_embeddings": 2048, "word_embed_proj_dim": 4096})"},
    Known{"gpt2", 124439808, kSame, 36864, R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"],
      "n_embd": 768, "n_layer": 12, "n_head": 12, "n_inner": null, "n_positions": 1024, "n_ctx": 1024,
      "vocab_size": 50257})"},
    Known{"gpt2-xl", 1557611200, kSame, 307200, R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"],
      "n_embd": 1600, "n_layer": 48, "n_head": 25, "n_positions": 1024, "vocab_size": 50257})"},
    Known{"pythia-6.9b", 6857302016, kSame, 524288, R"({"model_type": "gpt_neox",
      "architectures": ["GPTNeoXForCausalLM"], "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
      "intermediate_size": 16384, "vocab_size": 50432})"},
    Known{"exaone-3.5-7.8b", 7818448896, kSame, 131072, R"({"model_type": "exaone",
      "architectures": ["ExaoneForCausalLM"], "hidden_size": 4096, "num_layers": 32, "num_attention_heads": 32,
      "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 14336, "vocab_size": 102400})"},
    Known{"exaone-4.0-32b", 32.0e9, kSame, 262144, R"({"model_type": "exaone4", "architectures": ["Exaone4ForCausalLM"],
      "hidden_size": 5120, "num_hidden_layers": 64, "num_attention_heads": 40, "num_key_value_heads": 8,
      "head_dim": 128, "intermediate_size": 27392, "vocab_size": 102400, "sliding_window": 4096,
      "sliding_window_pattern": "LLLG"})"},
    Known{"k-exaone-236b-a23b", 236e9, 23e9, 196608, R"({"model_type": "exaone_moe",
      "architectures": ["ExaoneMoEForCausalLM"], "hidden_size": 6144, "num_hidden_layers": 48,
      "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 18432,
      "moe_intermediate_size": 2048, "num_experts": 128, "num_experts_per_tok": 8, "num_shared_experts": 1,
      "first_k_dense_replace": 1, "sliding_window": 128, "sliding_window_pattern": "LLLG", "vocab_size": 153600})"},
    Known{"olmo-2-7b", 7298617344, kSame, 524288, R"({"model_type": "olmo2", "architectures": ["Olmo2ForCausalLM"],
      "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "intermediate_size": 11008, "vocab_size": 100352})"},
    Known{"olmoe-1b-7b", 6919161856, 1.3e9 - 50304.0 * 2048.0, 131072,
          R"({"model_type": "olmoe", "architectures": ["OlmoeForCausalLM"],
      "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 16, "num_key_value_heads": 16,
      "intermediate_size": 1024, "num_experts": 64, "num_experts_per_tok": 8, "vocab_size": 50304})"},
    Known{"command-r-35b", 34980831232, kSame, 1310720, R"({"model_type": "cohere",
      "architectures": ["CohereForCausalLM"], "hidden_size": 8192, "num_hidden_layers": 40, "num_attention_heads": 64,
      "num_key_value_heads": 64, "intermediate_size": 22528, "vocab_size": 256000})"});

INSTANTIATE_TEST_SUITE_P(Families, FamilyCounts, kCases, [](const auto& parameter) {
  std::string name;
  for (const char c : parameter.param.name) name.push_back(std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_');
  return name;
});

}  // namespace
}  // namespace roofcal::models
