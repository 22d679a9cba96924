// A language model as layers: what its config.json says in the words of one family, said in one way for all. Whatever
// is asked about a model (parameters, memory, the operators of a step) is derived from this and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/dtype.h"

namespace roofcal::models {

/// Softmax attention with its own query, key and value heads (multi-head, grouped or multi-query).
struct Attention {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  ///< keys that a query sees at most; 0: all. Chunked attention counts as a window
  bool qkv_bias = false;
  bool out_bias = false;
  enum class QkNorm { none, per_head, per_width } qk_norm = QkNorm::none;  ///< one weight a head_dim, or a projection
  bool output_gate = false;    ///< a gate as wide as the queries multiplies the outputs (Qwen3-Next, Qwen3.5)
  bool sinks = false;          ///< one learned logit a head (gpt-oss)
  bool key_is_value = false;   ///< values are the keys: no value projection, both cached (Gemma 4)
  bool borrows_cache = false;  ///< uses the cache of an earlier layer: no key or value projection (Gemma 4)

  friend bool operator==(const Attention&, const Attention&) = default;
};

/// The lightning indexer of DeepSeek sparse attention: which `topk` cached tokens a query attends to.
struct Indexer {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t topk = 0;

  friend bool operator==(const Indexer&, const Indexer&) = default;
};

/// Multi-head latent attention (arXiv 2405.04434, section 2.1).
struct Mla {
  std::int64_t heads = 0;
  std::int64_t q_rank = 0;  ///< 0: queries are projected directly
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;
  std::int64_t rope_dim = 0;
  std::int64_t v_dim = 0;
  bool bias = false;  ///< on the down projections and the output
  std::optional<Indexer> indexer;

  friend bool operator==(const Mla&, const Mla&) = default;
};

/// Gated delta net (arXiv 2412.06464) as Qwen3-Next and Qwen3.5 use it: a state a value head, no cache a token.
struct LinearAttention {
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t conv_width = 0;

  friend bool operator==(const LinearAttention&, const LinearAttention&) = default;
};

using Mixer = std::variant<std::monostate, Attention, Mla, LinearAttention>;  // monostate: the layer has none

struct DenseFfn {
  std::int64_t inter = 0;
  bool gated = true;
  bool bias = false;

  friend bool operator==(const DenseFfn&, const DenseFfn&) = default;
};

struct MoeFfn {
  std::int64_t experts = 0;
  std::int64_t topk = 0;
  std::int64_t inter = 0;  ///< of one expert
  bool gated = true;
  bool expert_bias = false;
  std::int64_t router_extra = 0;  ///< values a layer beside the router's matrix: biases, scales
  std::int64_t shared_inter = 0;  ///< of all shared experts together; 0: none
  bool shared_gate = false;       ///< the shared expert's output is gated by a row of its own

  friend bool operator==(const MoeFfn&, const MoeFfn&) = default;
};

struct Layer {
  Mixer mixer;
  std::optional<DenseFfn> dense;
  std::optional<MoeFfn> moe;
  std::int64_t norms = 2;             ///< normalisations as wide as the model
  std::int64_t per_layer_input = 0;   ///< width of the embedding that each layer has of its own (Gemma 4)
  std::int64_t other_parameters = 0;  ///< of this layer, in none of the parts above

  friend bool operator==(const Layer&, const Layer&) = default;
};

/// The parts of a model whose weights a release may store in different formats.
enum class Part { attention, dense_ffn, experts, shared_experts, head, rest };
inline constexpr int kPartCount = 6;
[[nodiscard]] std::string_view to_string(Part part);

/// Names of formats (core/dtype.h). `rest` (embedding, norms, routers, indexer keys' projections) stays at 16 bits.
struct Formats {
  std::string base = "bfloat16";  ///< activations between kernels, and all that is not quantised
  std::string attention = "bfloat16";
  std::string dense_ffn = "bfloat16";
  std::string experts = "bfloat16";
  std::string shared_experts = "bfloat16";
  std::string kv_cache = "bfloat16";

  [[nodiscard]] const std::string& of(Part part) const;
};

struct ModelDescription {
  std::string name;
  std::string family;  ///< the `model_type` whose rules read it
  std::int64_t hidden = 0;
  std::int64_t vocab = 0;
  std::int64_t embedding_width = 0;  ///< of the embedding table; other than `hidden` only where it is projected (OPT)
  bool tied = false;                 ///< the output head is the embedding table
  bool head_bias = false;
  bool norm_bias = false;  ///< layer norms with a bias, rather than RMS norms
  bool final_norm = true;
  std::int64_t learned_positions = 0;
  std::int64_t per_layer_vocab = 0;  ///< rows of the table of per-layer inputs; 0: none
  std::vector<Layer> layers;         ///< in order
  Formats formats;
  std::vector<std::string> notes;  ///< what was assumed in reading, one line each
};

/// Equal layers together, in the order of their first one.
struct LayerKind {
  Layer layer;
  std::int64_t count = 0;
};
[[nodiscard]] std::vector<LayerKind> kinds_of(const std::vector<Layer>& layers);
/// "full attention + moe", "sliding attention (128) + dense ffn", "mla + moe".
[[nodiscard]] std::string label_of(const Layer& layer);

}  // namespace roofcal::models
