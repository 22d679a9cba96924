// What a model weighs: parameters, bytes, cache.
#pragma once

#include <array>
#include <cstdint>

#include "core/units.h"
#include "predictor/models/description.h"

namespace roofcal::models {

/// Parameters of one layer by part; norms and routers are `rest`.
struct PartCounts {
  std::array<double, kPartCount> parameters{};

  double& operator[](Part part) { return parameters[static_cast<std::size_t>(part)]; }
  double operator[](Part part) const { return parameters[static_cast<std::size_t>(part)]; }
  [[nodiscard]] double total() const;
};
[[nodiscard]] PartCounts layer_parameters(const ModelDescription& model, const Layer& layer);

struct ModelCounts {
  double parameters = 0.0;  ///< language model, without multi-token-prediction layers; a tied head counts once
  /// Touched for one token, without the input embedding (of a model with experts; a dense model touches all). A tied
  /// table is the output head's, so it stays.
  double active_parameters = 0.0;
  Bytes weights{};
  /// Keys and values (or latents) that one more token writes, over all layers; nothing for linear attention.
  Bytes kv_bytes_per_token{};
  Bytes index_bytes_per_token{};     ///< keys of sparse-attention indexers, beside the cache
  Bytes state_bytes_per_sequence{};  ///< of linear attention, whatever the length
};
[[nodiscard]] ModelCounts count(const ModelDescription& model);

/// What one layer of the cache keeps a token.
[[nodiscard]] Bytes layer_kv_bytes(const ModelDescription& model, const Layer& layer);
[[nodiscard]] Bytes layer_index_bytes(const Layer& layer);
[[nodiscard]] Bytes layer_state_bytes(const Layer& layer);
/// Bytes that parameters of a part occupy, scales included.
[[nodiscard]] Bytes weight_bytes(const ModelDescription& model, Part part, double parameters);
/// The parameters of embedding and output head: first the tables that only look up, then what multiplies.
[[nodiscard]] double embedding_parameters(const ModelDescription& model);
[[nodiscard]] double head_parameters(const ModelDescription& model);

}  // namespace roofcal::models
