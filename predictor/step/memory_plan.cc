#include "predictor/step/memory_plan.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "predictor/models/counts.h"
#include "predictor/step/lower.h"

namespace roofcal {
namespace {

using models::Attention;
using models::Layer;
using models::LinearAttention;
using models::Mla;
using models::ModelDescription;
using models::Part;

constexpr double kHalf = 2.0;  // bytes of a 16-bit value

double real(std::int64_t value) { return static_cast<double>(value); }

double parameters_in(const std::vector<LoweredOperator>& operators) {
  double sum = 0.0;
  for (const LoweredOperator& one : operators) sum += one.shares_weights ? 0.0 : one.count * one.weights;
  return sum;
}

Bytes bytes_of(const std::vector<LoweredOperator>& operators) {
  Bytes sum{};
  for (const LoweredOperator& one : operators) {
    if (!one.shares_weights) sum += one.count * one.weight_bytes;
  }
  return sum;
}

// What products read, as they are sharded; the rest (norms, biases, scales) is on every GPU.
Bytes layer_weights(const ModelDescription& model, const Layer& layer, const Parallelism& spread) {
  const double rest = models::layer_parameters(model, layer).total() - parameters_in(lower_layer(model, layer, {}, {}));
  return bytes_of(lower_layer(model, layer, spread, {})) + models::weight_bytes(model, Part::rest, std::max(rest, 0.0));
}

std::vector<models::LayerKind> kinds_of_stage(const ModelDescription& model, const Parallelism& spread,
                                              std::int64_t stage) {
  const StageLayers part = stage_layers(static_cast<std::int64_t>(model.layers.size()), spread.pp, stage);
  const auto first = model.layers.begin() + part.first;
  return models::kinds_of({first, first + part.count});
}

struct CacheOfLayer {
  const ModelDescription& model;
  const Parallelism& spread;
  std::int64_t length;

  Bytes operator()(std::monostate /*none*/) const { return {}; }
  Bytes operator()(const Attention& attention) const {
    if (attention.borrows_cache) return {};
    const double heads = real(std::max<std::int64_t>(1, attention.kv_heads / spread.tp));
    const std::int64_t kept = attention.window > 0 ? std::min(attention.window, length) : length;
    return Bytes(2.0 * heads * real(attention.head_dim) * element() * real(kept));
  }
  // All heads share the latent: every GPU keeps all of it.
  Bytes operator()(const Mla& mla) const {
    const double index = mla.indexer ? real(mla.indexer->head_dim) + 4.0 : 0.0;
    return Bytes((real(mla.kv_rank + mla.rope_dim) * element() + index) * real(length));
  }
  Bytes operator()(const LinearAttention& linear) const {
    Layer layer;
    layer.mixer = linear;
    return models::layer_state_bytes(layer) / real(spread.tp);
  }
  [[nodiscard]] double element() const { return find_dtype(model.formats.kv_cache)->weight_bytes; }
};

// 16-bit values a token that are alive at once: the residual, what comes in and goes out, and the widest of what a
// layer makes of it.
double widest(const ModelDescription& model, const Layer& layer, const Parallelism& spread) {
  double width = 0.0;
  for (const LoweredOperator& one : lower_layer(model, layer, spread, {})) {
    if (const auto* gemm = std::get_if<GemmSizes>(&one.sizes)) width = std::max(width, real(gemm->n + gemm->k));
    if (const auto* moe = std::get_if<MoeSizes>(&one.sizes)) {
      const double copies = real(moe->ranks * moe->topk) / real(moe->ep);
      width = std::max(width, copies * real(2 * moe->hidden + 3 * moe->inter / moe->tp));
    }
  }
  return 3.0 * real(model.hidden) + width;
}

}  // namespace

Bytes stage_weights(const ModelDescription& model, const Parallelism& spread, std::int64_t stage) {
  Bytes sum{};
  for (const models::LayerKind& kind : kinds_of_stage(model, spread, stage)) {
    sum += real(kind.count) * layer_weights(model, kind.layer, spread);
  }
  const double shards = real(spread.tp);
  const bool first = stage == 0;
  const bool last = stage == spread.pp - 1;
  if (first) sum += models::weight_bytes(model, Part::rest, models::embedding_parameters(model)) / shards;
  if (last && !(model.tied && first)) {
    sum += models::weight_bytes(model, Part::head, models::head_parameters(model)) / shards;
  }
  return sum;
}

Bytes stage_cache(const ModelDescription& model, const Parallelism& spread, std::int64_t stage, std::int64_t length) {
  Bytes sum{};
  for (const models::LayerKind& kind : kinds_of_stage(model, spread, stage)) {
    sum += real(kind.count) * std::visit(CacheOfLayer{model, spread, length}, kind.layer.mixer);
  }
  return sum;
}

MemoryPlan plan_memory(const ModelDescription& model, const Parallelism& spread, const GpuSpec& gpu,
                       const StepTokens& step, const CachedSequences& sequences) {
  double width = 0.0;
  for (const models::LayerKind& kind : models::kinds_of(model.layers)) {
    width = std::max(width, widest(model, kind.layer, spread));
  }
  MemoryPlan fullest;
  for (std::int64_t stage = 0; stage < spread.pp; ++stage) {
    MemoryPlan plan;
    plan.capacity = gpu.memory;
    plan.usable = kUsableShare * gpu.memory;
    plan.weights = stage_weights(model, spread, stage);
    plan.activations = Bytes(kHalf * width * real(step.tokens()));
    if (stage == spread.pp - 1) {  // logits at 32 bits, and the probabilities made of them
      plan.activations += Bytes(8.0 * real(model.vocab) * real(step.logits()));
    }
    plan.overhead = spread.gpus() > 1 ? kContextBytes + kCommunicationBytes : kContextBytes;
    const std::int64_t length = std::max<std::int64_t>(1, sequences.length);
    const Bytes each = stage_cache(model, spread, stage, length);
    plan.cache = real(sequences.count) * each;
    plan.cache_bytes_per_token = each.value() / real(length);
    const double room = (plan.usable - plan.weights - plan.activations - plan.overhead).value();
    plan.fits = plan.needed() <= plan.usable;
    const auto tokens = [&](double bytes) {
      if (bytes <= 0.0 || plan.cache_bytes_per_token <= 0.0) return std::int64_t{0};
      return static_cast<std::int64_t>(std::floor(bytes / plan.cache_bytes_per_token));
    };
    plan.cache_tokens = tokens(room);
    plan.cache_tokens_left = tokens(room - plan.cache.value());
    const double spare = room - plan.cache.value();
    const double fullest_spare = (fullest.usable - fullest.needed()).value();
    if (stage == 0 || spare < fullest_spare) fullest = plan;
  }
  return fullest;
}

}  // namespace roofcal
