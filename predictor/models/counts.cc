#include "predictor/models/counts.h"

#include <numeric>

namespace roofcal::models {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

struct MixerParameters {
  double hidden;

  double operator()(std::monostate /*none*/) const { return 0.0; }

  double operator()(const Attention& attention) const {
    const double q = real(attention.heads * attention.head_dim);
    const double kv = real(attention.kv_heads * attention.head_dim);
    const double keys_values = attention.borrows_cache ? 0.0 : attention.key_is_value ? kv : 2.0 * kv;
    const double gate = attention.output_gate ? q : 0.0;
    double sum = hidden * (q + gate + keys_values) + q * hidden;
    if (attention.qkv_bias) sum += q + gate + keys_values;
    if (attention.out_bias) sum += hidden;
    if (attention.qk_norm == Attention::QkNorm::per_head) {
      sum += real(attention.head_dim) * (attention.borrows_cache ? 1.0 : 2.0);
    } else if (attention.qk_norm == Attention::QkNorm::per_width) {
      sum += q + kv;
    }
    if (attention.sinks) sum += real(attention.heads);
    return sum;
  }

  double operator()(const Mla& mla) const {
    const double queries = real(mla.heads * (mla.nope_dim + mla.rope_dim));
    const double q_rank = real(mla.q_rank);
    const double kv_rank = real(mla.kv_rank);
    double sum = mla.q_rank > 0 ? hidden * q_rank + q_rank + q_rank * queries : hidden * queries;
    sum += hidden * (kv_rank + real(mla.rope_dim)) + kv_rank;
    sum += kv_rank * real(mla.heads * (mla.nope_dim + mla.v_dim));
    sum += real(mla.heads * mla.v_dim) * hidden;
    if (mla.bias) sum += q_rank + kv_rank + real(mla.rope_dim) + hidden;
    if (mla.indexer) {
      const double dim = real(mla.indexer->head_dim);
      const double heads = real(mla.indexer->heads);
      // Queries from the query's latent, one key a token with its layer norm, one weight a head.
      sum += (mla.q_rank > 0 ? q_rank : hidden) * heads * dim + hidden * dim + 2.0 * dim + hidden * heads;
    }
    return sum;
  }

  double operator()(const LinearAttention& linear) const {
    const double keys = real(linear.key_heads * linear.key_dim);
    const double values = real(linear.value_heads * linear.value_dim);
    const double heads = real(linear.value_heads);
    double sum = hidden * (2.0 * keys + 2.0 * values);       // queries, keys, values, output gate
    sum += hidden * 2.0 * heads;                             // decay and write strength
    sum += (2.0 * keys + values) * real(linear.conv_width);  // causal convolution, one filter a channel
    sum += 2.0 * heads + real(linear.value_dim);             // A, dt bias, gated norm
    return sum + values * hidden;
  }
};

double ffn(double hidden, double inter, bool gated, bool bias) {
  const double matrices = gated ? 3.0 : 2.0;
  return matrices * hidden * inter + (bias ? (matrices - 1.0) * inter + hidden : 0.0);
}

}  // namespace

double PartCounts::total() const { return std::accumulate(parameters.begin(), parameters.end(), 0.0); }

PartCounts layer_parameters(const ModelDescription& model, const Layer& layer) {
  const double hidden = real(model.hidden);
  PartCounts out;
  out[Part::attention] = std::visit(MixerParameters{hidden}, layer.mixer) + real(layer.other_parameters);
  if (layer.dense) {
    out[Part::dense_ffn] = ffn(hidden, real(layer.dense->inter), layer.dense->gated, layer.dense->bias);
  }
  if (layer.moe) {
    const MoeFfn& moe = *layer.moe;
    out[Part::experts] = real(moe.experts) * ffn(hidden, real(moe.inter), moe.gated, moe.expert_bias);
    out[Part::shared_experts] = ffn(hidden, real(moe.shared_inter), moe.gated, false);
    out[Part::rest] += real(moe.experts) * hidden + real(moe.router_extra) + (moe.shared_gate ? hidden : 0.0);
  }
  out[Part::rest] += real(layer.norms) * hidden * (model.norm_bias ? 2.0 : 1.0);
  out[Part::rest] += 2.0 * hidden * real(layer.per_layer_input);
  return out;
}

double embedding_parameters(const ModelDescription& model) {
  double sum = real(model.vocab * model.embedding_width) + real(model.learned_positions * model.hidden);
  if (model.embedding_width != model.hidden) sum += 2.0 * real(model.embedding_width * model.hidden);
  if (model.per_layer_vocab > 0) {
    const double width = real(model.layers.front().per_layer_input);
    const double all = width * real(static_cast<std::int64_t>(model.layers.size()));
    sum += real(model.per_layer_vocab) * all + real(model.hidden) * all + width;
  }
  return sum;
}

double head_parameters(const ModelDescription& model) {
  return real(model.vocab * model.embedding_width) + (model.head_bias ? real(model.vocab) : 0.0);
}

Bytes weight_bytes(const ModelDescription& model, Part part, double parameters) {
  return Bytes(parameters * find_dtype(model.formats.of(part))->weight_bytes);
}

Bytes layer_kv_bytes(const ModelDescription& model, const Layer& layer) {
  const double element = find_dtype(model.formats.kv_cache)->weight_bytes;
  if (const auto* attention = std::get_if<Attention>(&layer.mixer)) {
    if (attention->borrows_cache) return Bytes{};
    return Bytes(2.0 * real(attention->kv_heads * attention->head_dim) * element);
  }
  if (const auto* mla = std::get_if<Mla>(&layer.mixer)) {
    return Bytes(real(mla->kv_rank + mla->rope_dim) * element);
  }
  return Bytes{};
}

Bytes layer_index_bytes(const Layer& layer) {
  const auto* mla = std::get_if<Mla>(&layer.mixer);
  if (mla == nullptr || !mla->indexer) return Bytes{};
  return Bytes(real(mla->indexer->head_dim) + 4.0);  // fp8 keys, one fp32 scale a token (DeepSeek-V3.2's own kernels)
}

Bytes layer_state_bytes(const Layer& layer) {
  const auto* linear = std::get_if<LinearAttention>(&layer.mixer);
  if (linear == nullptr) return Bytes{};
  const double channels = real(2 * linear->key_heads * linear->key_dim + linear->value_heads * linear->value_dim);
  return Bytes(4.0 * real(linear->value_heads * linear->key_dim) * real(linear->value_dim) +
               2.0 * channels * real(linear->conv_width - 1));
}

ModelCounts count(const ModelDescription& model) {
  const double hidden = real(model.hidden);
  ModelCounts out;
  const double norm = model.norm_bias ? 2.0 * hidden : hidden;
  const double outside = embedding_parameters(model) + (model.final_norm ? norm : 0.0) +
                         (model.tied ? (model.head_bias ? real(model.vocab) : 0.0) : head_parameters(model));
  out.parameters = outside;
  out.weights = weight_bytes(model, Part::rest, outside);
  double idle = 0.0;  // experts that a token does not take
  for (const LayerKind& kind : kinds_of(model.layers)) {
    const double layers = real(kind.count);
    const PartCounts parts = layer_parameters(model, kind.layer);
    out.parameters += layers * parts.total();
    for (int i = 0; i < kPartCount; ++i) {
      const auto part = static_cast<Part>(i);
      out.weights += layers * weight_bytes(model, part, parts[part]);
    }
    if (kind.layer.moe) {
      idle += layers * parts[Part::experts] * (1.0 - real(kind.layer.moe->topk) / real(kind.layer.moe->experts));
    }
    out.kv_bytes_per_token += layers * layer_kv_bytes(model, kind.layer);
    out.index_bytes_per_token += layers * layer_index_bytes(kind.layer);
    out.state_bytes_per_sequence += layers * layer_state_bytes(kind.layer);
  }
  out.active_parameters = out.parameters - idle;
  if (idle > 0.0 && !model.tied) out.active_parameters -= embedding_parameters(model);
  return out;
}

}  // namespace roofcal::models
