#include "predictor/models/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace roofcal::models {
namespace {

struct MixerLabel {
  std::string operator()(std::monostate /*none*/) const { return "no attention"; }
  std::string operator()(const Attention& attention) const {
    return attention.window > 0 ? fmt::format("sliding attention ({})", attention.window) : "full attention";
  }
  std::string operator()(const Mla& mla) const { return mla.indexer ? "sparse mla" : "mla"; }
  std::string operator()(const LinearAttention& /*linear*/) const { return "linear attention"; }
};

}  // namespace

std::string_view to_string(Part part) {
  constexpr std::array<std::string_view, kPartCount> names{"attention",      "dense ffn", "experts",
                                                           "shared experts", "head",      "rest"};
  return names[static_cast<std::size_t>(part)];
}

const std::string& Formats::of(Part part) const {
  switch (part) {
    case Part::attention:
      return attention;
    case Part::dense_ffn:
      return dense_ffn;
    case Part::experts:
      return experts;
    case Part::shared_experts:
      return shared_experts;
    case Part::head:
    case Part::rest:
      break;
  }
  return base;
}

std::vector<LayerKind> kinds_of(const std::vector<Layer>& layers) {
  std::vector<LayerKind> kinds;
  for (const Layer& layer : layers) {
    const auto known = std::ranges::find(kinds, layer, &LayerKind::layer);
    if (known == kinds.end()) {
      kinds.push_back({layer, 1});
    } else {
      ++known->count;
    }
  }
  return kinds;
}

std::string label_of(const Layer& layer) {
  std::string label = std::visit(MixerLabel{}, layer.mixer);
  if (layer.dense) label += " + dense ffn";
  if (layer.moe) label += " + moe";
  if (!layer.dense && !layer.moe) label += " + no ffn";
  return label;
}

}  // namespace roofcal::models
