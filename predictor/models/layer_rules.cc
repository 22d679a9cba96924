#include "predictor/models/layer_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace roofcal::models {
namespace {

std::vector<LayerType> by_words(ConfigFields& fields, const std::vector<std::string>& words) {
  std::vector<LayerType> out;
  for (const std::string& word : words) {
    if (word == "full_attention" || word == "attention" || word == "global") {
      out.push_back(LayerType::full);
    } else if (word == "sliding_attention" || word == "chunked_attention" || word == "local") {
      out.push_back(LayerType::sliding);
    } else if (word == "linear_attention") {
      out.push_back(LayerType::linear);
    } else {
      fields.complain(fmt::format("layer_types names '{}', which is not known here", word));
      break;
    }
  }
  return out;
}

// All layers but every `period`-th are `other`.
std::vector<LayerType> by_period(std::int64_t layers, std::int64_t period, LayerType other) {
  std::vector<LayerType> out;
  for (std::int64_t i = 0; i < layers; ++i) {
    out.push_back(period > 0 && (i + 1) % period != 0 ? other : LayerType::full);
  }
  return out;
}

std::vector<LayerType> by_pattern(ConfigFields& fields, const Family& family, std::int64_t layers) {
  const auto names = {"sliding_window_pattern", "_sliding_window_pattern"};
  if (fields.find({"sliding_window"}) == nullptr) return std::vector<LayerType>(static_cast<std::size_t>(layers));
  const nlohmann::json* found = fields.find(names);
  if (found != nullptr && found->is_string()) {
    const auto letters = found->get<std::string>();
    std::vector<LayerType> out;
    for (std::int64_t i = 0; i < layers && !letters.empty(); ++i) {
      const char letter = letters[static_cast<std::size_t>(i) % letters.size()];
      // The last layer is always global (transformers, Exaone4Config).
      out.push_back(letter == 'L' && i + 1 < layers ? LayerType::sliding : LayerType::full);
    }
    return out;
  }
  return by_period(layers, fields.count(names, family.pattern), LayerType::sliding);
}

std::vector<LayerType> by_family(ConfigFields& fields, const Family& family, std::int64_t layers) {
  const auto all = [layers](LayerType type) { return std::vector<LayerType>(static_cast<std::size_t>(layers), type); };
  switch (family.windows) {
    case Windows::none:
      break;
    case Windows::all_layers:
      return all(fields.has({"sliding_window"}) ? LayerType::sliding : LayerType::full);
    case Windows::qwen: {
      auto out = all(LayerType::full);
      if (!fields.flag({"use_sliding_window"}, false)) return out;
      const std::int64_t first = fields.count_or_zero({"max_window_layers"}, layers);
      for (std::int64_t i = first; i < layers; ++i) out[static_cast<std::size_t>(i)] = LayerType::sliding;
      return out;
    }
    case Windows::even_layers:
      return by_period(layers, 2, LayerType::sliding);
    case Windows::pattern:
      return by_pattern(fields, family, layers);
    case Windows::llama4: {
      // no_rope_layers: 1 where there are rotary positions (and chunks), 0 where there are none.
      const auto rotary = fields.counts({"no_rope_layers"});
      if (rotary.empty()) return by_period(layers, fields.count({"no_rope_layer_interval"}, 4), LayerType::sliding);
      std::vector<LayerType> out;
      for (const std::int64_t flag : rotary) out.push_back(flag != 0 ? LayerType::sliding : LayerType::full);
      return out;
    }
    case Windows::linear_pattern:
      return by_period(layers, fields.count({"full_attention_interval"}, family.pattern), LayerType::linear);
  }
  return all(LayerType::full);
}

}  // namespace

std::vector<LayerType> layer_types(ConfigFields& fields, const Family& family, std::int64_t layers) {
  const auto words = fields.words({"layer_types"});
  auto out = words.empty() ? by_family(fields, family, layers) : by_words(fields, words);
  if (family.model_type == "gemma4" && !out.empty()) out.back() = LayerType::full;  // its code forces the last layer
  if (out.size() != static_cast<std::size_t>(layers)) {
    fields.complain(fmt::format("layer_types names {} layers, num_hidden_layers is {}", out.size(), layers));
    out.assign(static_cast<std::size_t>(layers), LayerType::full);
  }
  return out;
}

std::vector<bool> moe_layers(ConfigFields& fields, const Family& family, std::int64_t layers) {
  std::vector<bool> out(static_cast<std::size_t>(layers), true);
  const auto set = [&out](auto rule) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] && rule(static_cast<std::int64_t>(i));
  };
  if (const auto words = fields.words({"mlp_layer_types"}); !words.empty()) {
    if (words.size() != out.size()) fields.complain("mlp_layer_types does not name every layer");
    set([&](std::int64_t i) {
      return static_cast<std::size_t>(i) < words.size() && words[static_cast<std::size_t>(i)] == "sparse";
    });
    return out;
  }
  if (family.windows == Windows::llama4) {
    if (fields.has({"moe_layers"})) {
      const auto named = fields.counts({"moe_layers"});
      set([&](std::int64_t i) { return std::ranges::find(named, i) != named.end(); });
    } else {
      const std::int64_t step = fields.count({"interleave_moe_layer_step"});
      set([step](std::int64_t i) { return i % step == step - 1; });
    }
    return out;
  }
  const std::int64_t dense = fields.count_or_zero({"first_k_dense_replace", "first_last_k_dense_replace"}, 0);
  set([dense](std::int64_t i) { return i >= dense; });
  if (const nlohmann::json* frequency = fields.find({"moe_layer_freq"})) {
    if (frequency->is_array()) {  // one flag a layer
      const auto flags = fields.counts({"moe_layer_freq"});
      if (flags.size() != out.size()) fields.complain("moe_layer_freq does not name every layer");
      set([&](std::int64_t i) {
        return static_cast<std::size_t>(i) < flags.size() && flags[static_cast<std::size_t>(i)] != 0;
      });
    } else {
      const std::int64_t every = fields.count({"moe_layer_freq"});
      set([every](std::int64_t i) { return i % every == 0; });
    }
  }
  const auto dense_only = fields.counts({"mlp_only_layers"});
  const std::int64_t step = fields.count({"decoder_sparse_step"}, 1);
  set([&](std::int64_t i) { return std::ranges::find(dense_only, i) == dense_only.end() && (i + 1) % step == 0; });
  if (const nlohmann::json* flags = fields.find({"is_moe_layer"}); flags != nullptr && flags->is_array()) {
    if (flags->size() != out.size()) fields.complain("is_moe_layer does not name every layer");
    set([flags](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      return at < flags->size() && (*flags)[at].is_boolean() && (*flags)[at].get<bool>();
    });
  }
  return out;
}

}  // namespace roofcal::models
