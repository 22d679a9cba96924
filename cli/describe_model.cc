#include "cli/describe_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/predict_model.h"
#include "cli/session.h"
#include "predictor/models/counts.h"

namespace roofcal::cli {
namespace {

using models::Layer;
using models::ModelDescription;
using report::Audience;
using report::Record;
using report::Report;
using report::Unit;
using report::Value;

Value whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }
Value whole(Bytes bytes) { return whole(bytes.value()); }
// Zero says that a layer has no such part.
Value given(std::int64_t value) {
  Value out;
  if (value > 0) out = value;
  return out;
}

// "671.0 billion": the way that people name a model's size.
std::string in_words(double parameters) {
  return parameters >= 1e9 ? fmt::format("{:.2f} billion", parameters / 1e9)
                           : fmt::format("{:.1f} million", parameters / 1e6);
}

Value if_any(bool any, const std::string& text) {
  Value out;
  if (any) out = text;
  return out;
}

// The shape of the attention; zero where it has no such size.
struct MixerShape {
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0, window = 0, kv_rank = 0;
};

struct ShapeOf {
  MixerShape operator()(std::monostate /*none*/) const { return {}; }
  MixerShape operator()(const models::Attention& a) const { return {a.heads, a.kv_heads, a.head_dim, a.window, 0}; }
  // What is cached is one latent and one rotary key, whatever the heads.
  MixerShape operator()(const models::Mla& m) const { return {m.heads, 0, m.nope_dim + m.rope_dim, 0, m.kv_rank}; }
  MixerShape operator()(const models::LinearAttention& l) const { return {l.value_heads, 0, l.value_dim, 0, 0}; }
};

std::shared_ptr<const Report> layer_kinds(const ModelDescription& model) {
  Report out;
  out.columns = {{"kind", "kind"},
                 {"count", "layers"},
                 {"parameters", "parameters a layer"},
                 {"heads", "heads"},
                 {"kv_heads", "kv heads"},
                 {"head_dim", "head dim"},
                 {"window", "window"},
                 {"kv_lora_rank", "kv rank"},
                 {"inter", "inter"},
                 {"experts", "experts"},
                 {"topk", "top k"},
                 {"expert_inter", "expert inter"},
                 {"shared_inter", "shared inter"},
                 {"kv_bytes_per_token", "cache a token", Unit::bytes}};
  for (const models::LayerKind& kind : models::kinds_of(model.layers)) {
    const Layer& layer = kind.layer;
    Record record{models::label_of(layer), kind.count, whole(models::layer_parameters(model, layer).total())};
    const MixerShape mixer = std::visit(ShapeOf{}, layer.mixer);
    const models::DenseFfn dense = layer.dense.value_or(models::DenseFfn{});
    const models::MoeFfn moe = layer.moe.value_or(models::MoeFfn{});
    for (const std::int64_t size : {mixer.heads, mixer.kv_heads, mixer.head_dim, mixer.window, mixer.kv_rank,
                                    dense.inter, moe.experts, moe.topk, moe.inter, moe.shared_inter}) {
      record.push_back(given(size));
    }
    record.push_back(whole(models::layer_kv_bytes(model, layer)));
    out.records.push_back(std::move(record));
  }
  return std::make_shared<const Report>(std::move(out));
}

}  // namespace

Result<int> describe_model(Session& session, const ModelOptions& options) {
  const auto read = options.model();
  if (!read) return read.error();
  const ModelDescription& model = *read;
  const models::ModelCounts counts = models::count(model);
  const models::Formats& formats = model.formats;
  const bool has_experts = std::ranges::any_of(model.layers, [](const Layer& layer) { return layer.moe.has_value(); });
  const bool has_dense = std::ranges::any_of(model.layers, [](const Layer& layer) { return layer.dense.has_value(); });
  const bool has_index = counts.index_bytes_per_token.value() > 0.0;
  const bool has_state = counts.state_bytes_per_sequence.value() > 0.0;

  Report out;
  out.single = true;
  out.columns = {
      {"model", "model"},
      {"family", "family"},
      {"parameters", "", Unit::none, Audience::programs},
      {"active_parameters", "", Unit::none, Audience::programs},
      {"parameters_text", "parameters", Unit::none, Audience::people},
      {"active_text", "active for one token", Unit::none, Audience::people},
      {"weight_bytes", "weights", Unit::bytes},
      {"kv_bytes_per_token", "cache a token", Unit::bytes},
      {"index_bytes_per_token", "index keys a token", Unit::bytes, has_index ? Audience::all : Audience::programs},
      {"state_bytes_per_sequence", "state a sequence", Unit::bytes, has_state ? Audience::all : Audience::programs},
      {"layers", "layers"},
      {"hidden", "hidden"},
      {"vocab", "vocabulary"},
      {"tied", "head is the embedding"},
      {"dtype", "dtype"},
      {"attention_dtype", "attention weights"},
      {"ffn_dtype", "dense weights", Unit::none, has_dense ? Audience::all : Audience::programs},
      {"expert_dtype", "expert weights", Unit::none, has_experts ? Audience::all : Audience::programs},
      {"kv_dtype", "cache dtype"},
      {"layer_kinds", "layer kinds"},
      {"warnings", "warnings", Unit::none, Audience::programs}};
  out.records.push_back({model.name,
                         model.family,
                         whole(counts.parameters),
                         whole(counts.active_parameters),
                         in_words(counts.parameters),
                         in_words(counts.active_parameters),
                         whole(counts.weights),
                         whole(counts.kv_bytes_per_token),
                         whole(counts.index_bytes_per_token),
                         whole(counts.state_bytes_per_sequence),
                         static_cast<std::int64_t>(model.layers.size()),
                         model.hidden,
                         model.vocab,
                         model.tied,
                         formats.base,
                         formats.attention,
                         if_any(has_dense, formats.dense_ffn),
                         if_any(has_experts, formats.experts),
                         formats.kv_cache,
                         layer_kinds(model),
                         model.notes});
  for (const std::string& note : model.notes) session.warn(note);
  session.print(out);
  return 0;
}

}  // namespace roofcal::cli
