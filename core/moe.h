// Fused mixture-of-experts layer: both expert GEMMs of one GPU, tensor and expert parallel.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/operator.h"
#include "core/router.h"

namespace roofcal {

/// The rank with the most assignments is what a step waits for, so the load is that of the heaviest (core/router.h): n
/// assignments to A active experts. With I' = inter / tp and g matrices an expert (3 gated, 2 not):
/// F = 2 n g hidden I'; bytes: A g hidden I' weights, and the activations of the tokens that reach this rank, read
/// once and written once at 2 bytes. `distribution` is "balanced" or "power_law_ALPHA".
[[nodiscard]] const Operator& moe_operator();

/// "balanced" <-> 0, "power_law_1.2" <-> 1200: the exponent in thousandths, up to 100.
[[nodiscard]] std::optional<std::int64_t> parse_distribution(std::string_view text);
[[nodiscard]] std::string print_distribution(std::int64_t alpha);

/// What the router does with a shape of the MoE operator.
[[nodiscard]] RouterQuestion router_question(const Shape& shape);

/// Positions in the MoE operator's shape.
enum class MoeField : std::size_t { tokens, hidden, inter, experts, topk, tp, ep, distribution };
[[nodiscard]] inline std::int64_t moe_size(const Shape& shape, MoeField field) {
  return shape[static_cast<std::size_t>(field)];
}

}  // namespace roofcal
