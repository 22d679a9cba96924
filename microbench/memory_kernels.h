// The kernels that only move data: their sizes, and the bytes that they have to move. bfloat16 throughout, as language
// models use them; copy, read, write and triad move plain bytes.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "core/result.h"
#include "core/units.h"
#include "microbench/measurement_case.h"

namespace roofcal::microbench {

/// Compulsory traffic: each byte once, whatever caches do.
struct Traffic {
  Bytes read{};
  Bytes written{};
};

struct MemoryKernel {
  std::string_view name;
  std::array<std::string_view, 4> size_names;  ///< of its case; unused ones are empty
  /// Domain: all named sizes, >= 1.
  Traffic (*traffic)(const Sizes& sizes);
  /// Device memory of one set of operands; more than the traffic where a table is read in part.
  Bytes (*footprint)(const Sizes& sizes);
  std::string_view meaning;
};

/// copy (bytes): reads and writes `bytes` each. read, write (bytes). triad (bytes): a = b + s c, each of `bytes`
/// (STREAM, McCalpin 1995). rms_norm (rows, hidden): x / rms(x) * weight. silu_and_mul (rows, inter): silu(gate) * up
/// of rows of 2 inter. rotary (tokens, heads, head_dim): in place, halves rotated, cosines and sines of each token in
/// float32. residual_add (rows, hidden): the second operand into the first. embedding_gather (tokens, hidden, vocab):
/// ids in int32. kv_append (tokens, kv_heads, head_dim): keys and values into a paged cache by int64 slots.
[[nodiscard]] std::span<const MemoryKernel> memory_kernels();
[[nodiscard]] const MemoryKernel* find_memory_kernel(std::string_view name);

/// A case of a kernel. Errors: an unknown kernel, or sizes that are missing, not its own, or not positive.
[[nodiscard]] Result<MeasurementCase> memory_case(std::string_view kernel, const Sizes& sizes, CacheMode cache);

}  // namespace roofcal::microbench
