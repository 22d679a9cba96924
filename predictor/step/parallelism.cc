#include "predictor/step/parallelism.h"

#include <fmt/format.h>

#include <algorithm>

namespace roofcal {
namespace {

using models::Attention;
using models::Layer;
using models::LinearAttention;
using models::Mla;

constexpr std::int64_t kMostGpus = 1 << 20;

Error cannot(std::string what, std::int64_t size, std::string_view flag, std::int64_t parts) {
  return Error{ErrorCode::usage,
               fmt::format("{} {} cannot be split over {} {}: it must divide them", size, what, flag, parts)};
}

struct MixerSplits {
  std::int64_t tp;

  Result<void> operator()(std::monostate /*none*/) const { return {}; }
  Result<void> operator()(const Attention& attention) const {
    if (attention.heads % tp != 0) return cannot("attention heads", attention.heads, "--tp", tp);
    const std::int64_t kv = attention.kv_heads;
    if (kv % tp != 0 && tp % kv != 0) {
      return Error{ErrorCode::usage,
                   fmt::format("{} key/value heads can neither be split nor repeated over --tp {}", kv, tp)};
    }
    return {};
  }
  Result<void> operator()(const Mla& mla) const {
    if (mla.heads % tp != 0) return cannot("attention heads", mla.heads, "--tp", tp);
    return {};
  }
  Result<void> operator()(const LinearAttention& linear) const {
    if (linear.key_heads % tp != 0) return cannot("linear attention key heads", linear.key_heads, "--tp", tp);
    if (linear.value_heads % tp != 0) return cannot("linear attention value heads", linear.value_heads, "--tp", tp);
    return {};
  }
};

}  // namespace

std::string to_string(const Parallelism& spread) {
  struct Part {
    std::string_view name;
    std::int64_t size;
  };
  std::string out;
  for (const Part& part :
       {Part{"tp", spread.tp}, Part{"pp", spread.pp}, Part{"ep", spread.ep}, Part{"dp", spread.dp}}) {
    if (part.size == 1) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", part.name, part.size);
  }
  return out;
}

StageLayers stage_layers(std::int64_t layers, std::int64_t stages, std::int64_t stage) {
  const std::int64_t each = layers / stages;
  const std::int64_t more = layers % stages;
  return {stage * each + std::min(stage, more), each + (stage < more ? 1 : 0)};
}

Result<void> check(const models::ModelDescription& model, const Parallelism& spread) {
  for (const std::int64_t part : {spread.tp, spread.pp, spread.ep, spread.dp}) {
    if (part < 1 || part > kMostGpus) {
      return Error{ErrorCode::usage, fmt::format("{} GPUs along one dimension: must be 1 to {}", part, kMostGpus)};
    }
  }
  if (spread.tp * spread.pp > kMostGpus || spread.tp * spread.pp * spread.dp > kMostGpus) {
    return Error{ErrorCode::usage, fmt::format("{} is more than {} GPUs", to_string(spread), kMostGpus)};
  }
  const auto layers = static_cast<std::int64_t>(model.layers.size());
  if (spread.pp > layers) return cannot("layers", layers, "--pp", spread.pp);
  const bool has_experts = std::ranges::any_of(model.layers, [](const Layer& layer) { return layer.moe.has_value(); });
  if (!has_experts && spread.ep > 1) {
    return Error{ErrorCode::usage,
                 fmt::format("--ep {}: {} has no experts to share out; --tp or --pp spread it", spread.ep, model.name)};
  }
  if (spread.stage_gpus() % spread.ep != 0) {
    return Error{
        ErrorCode::usage,
        fmt::format("--ep {} does not divide the {} GPUs that --tp {} and --dp {} make a stage: experts are "
                    "spread over these same GPUs (--tp {} --ep {} or --dp {} --ep {})",
                    spread.ep, spread.stage_gpus(), spread.tp, spread.dp, spread.ep, spread.ep, spread.ep, spread.ep)};
  }
  for (const models::LayerKind& kind : models::kinds_of(model.layers)) {
    const Layer& layer = kind.layer;
    if (auto split = std::visit(MixerSplits{spread.tp}, layer.mixer); !split) return split;
    if (layer.dense && layer.dense->inter % spread.tp != 0) {
      return cannot("wide feed-forward layers", layer.dense->inter, "--tp", spread.tp);
    }
    if (!layer.moe) continue;
    if (layer.moe->shared_inter % spread.tp != 0) {
      return cannot("wide shared experts", layer.moe->shared_inter, "--tp", spread.tp);
    }
    if (layer.moe->experts % spread.ep != 0) return cannot("experts", layer.moe->experts, "--ep", spread.ep);
    if (layer.moe->inter % spread.moe_tp() != 0) {
      return Error{ErrorCode::usage,
                   fmt::format("experts {} wide cannot be split over the {} GPUs that --ep {} leaves of {}",
                               layer.moe->inter, spread.moe_tp(), spread.ep, spread.stage_gpus())};
    }
  }
  return {};
}

}  // namespace roofcal
