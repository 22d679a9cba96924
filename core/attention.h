// Softmax attention of B sequences with grouped query heads over a key/value cache, prefill and decode.
#pragma once

#include "core/operator.h"

namespace roofcal {

/// Number of (query, key) pairs that causal attention of `seq` new tokens visits, `prefix` tokens being cached: query i
/// (from 0) sees the keys up to its own, prefix + i + 1 of them, at most the last `window` (0: no window). Exact.
[[nodiscard]] double causal_pairs(double seq, double prefix, double window);

/// Cached tokens that a window leaves visible to the first of the new tokens; all of them without a window.
[[nodiscard]] double visible_prefix(double prefix, double window);

/// Prefill. F = 4 B H D pairs (two products, multiply and add). Bytes: queries and new keys and values read at 2 bytes,
/// cached keys and values of the visible prefix read and the new ones written at the cache's size, outputs at 2 bytes.
/// Peak: that of `dtype`.
[[nodiscard]] const Operator& context_attention_operator();

/// Decode of one token a sequence against `seq` cached tokens (the new one among them), at most the last `window`.
/// F = 4 B H D L; bytes: 2 B L K D of cache, queries, outputs, and the new token's keys and values. Keys and values
/// count kv heads, not query heads. Peak: that of `dtype`, or of the cache's type where that is faster (kernels
/// quantise the queries then).
[[nodiscard]] const Operator& generation_attention_operator();

}  // namespace roofcal
