// Multi-head latent attention of DeepSeek-V2/V3 (arXiv 2405.04434, section 2.1): all heads share one latent of 512
// values and 64 rotary ones a token.
#pragma once

#include "core/operator.h"

namespace roofcal {

/// The sizes of the published models; the tables hold no others.
struct MlaSizes {
  static constexpr double latent = 512.0 + 64.0;  ///< cached values a token: kv_lora_rank + qk_rope_head_dim
  static constexpr double qk = 128.0 + 64.0;      ///< expanded query and key a head: qk_nope + qk_rope
  static constexpr double v = 128.0;              ///< expanded value a head
  static constexpr double latent_v = 512.0;       ///< what a head sums up when it works on the latent
};

/// Prefill on expanded heads: F = 2 B H (192 + 128) pairs; bytes at 2 an element: queries, keys, values and outputs of
/// the new tokens (640 values a head); the latent of the prefix read and of the new tokens written at the cache's size.
/// The up-projections are GEMMs of their own. `heads` are those of one GPU.
[[nodiscard]] const Operator& context_mla_operator();

/// Decode on the latent (weights absorbed): F = 2 B H (576 + 512) L; bytes: 576 B L of cache, 2 (576 + 512) B H of
/// queries and outputs.
[[nodiscard]] const Operator& generation_mla_operator();

}  // namespace roofcal
