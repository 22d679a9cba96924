// What the families of models do that their config.json does not say: which projections have a bias, which norms there
// are, what a missing field means.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "predictor/models/description.h"

namespace roofcal::models {

/// Whether a projection has a bias: as the family's code has it, or as the config's flag says.
enum class Bias { never, always, by_config };

/// Which layers see a window when the config has no `layer_types`.
enum class Windows {
  none,
  all_layers,      ///< wherever `sliding_window` is a number
  qwen,            ///< from layer `max_window_layers` on, if `use_sliding_window`
  even_layers,     ///< layers 0, 2, 4, ...
  pattern,         ///< all but every n-th (`sliding_window_pattern`, a number or letters such as "LLLG")
  llama4,          ///< `attention_chunk_size` on layers with rotary positions
  linear_pattern,  ///< not windows: linear attention on all but every `full_attention_interval`-th layer
};

struct Family {
  std::string_view model_type;  ///< without the ending "_text" of a nested config
  bool mla = false;             ///< needs the fields of latent attention
  bool moe = false;             ///< needs the fields of a mixture of experts
  bool tied = false;            ///< `tie_word_embeddings` when the config does not say
  Bias qkv_bias = Bias::never;
  Bias out_bias = Bias::never;
  Bias mlp_bias = Bias::never;
  Attention::QkNorm qk_norm = Attention::QkNorm::none;
  std::int64_t norms = 2;  ///< a layer
  bool norm_bias = false;
  bool gated = true;
  bool head_bias = false;
  bool router_bias = false;
  bool expert_bias = false;
  bool output_gate = false;  ///< default of `attn_output_gate`
  bool sinks = false;
  Windows windows = Windows::none;
  std::int64_t pattern = 0;           ///< default of `sliding_window_pattern`
  std::int64_t position_offset = -1;  ///< rows of the position table beyond the longest sequence; -1: no table
  std::int64_t inter_per_hidden = 0;  ///< feed-forward width when the config does not say; 0: it has to
  /// Values that published configs leave to the family's code; 0: none.
  std::int64_t default_vocab = 0, default_heads = 0, default_kv_heads = 0, default_head_dim = 0;
};

[[nodiscard]] std::span<const Family> all_families();
/// By `model_type`, with or without "_text", or an alias ("RefinedWebModel"); nullptr when unknown.
[[nodiscard]] const Family* find_family(std::string_view model_type);

}  // namespace roofcal::models
