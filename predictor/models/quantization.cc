#include "predictor/models/quantization.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "core/lower_case.h"

namespace roofcal::models {
namespace {

using nlohmann::json;

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? lower_case(found->get<std::string>()) : "";
}

const json* object_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

int bits_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<int>() : 0;
}

// "re:" and an expression that fits from the name's beginning (compressed-tensors).
bool fits(const std::string& expression, std::string_view name) {
  try {
    return std::regex_search(name.begin(), name.end(), std::regex(expression), std::regex_constants::match_continuous);
  } catch (const std::regex_error&) {
    return false;  // no expression: it names no module
  }
}

// "a*b" against a name, where '*' stands for anything; a pattern without one may be any part of the name that ends
// where a part of the name ends (that is how transformers and vLLM match): "mlp.gate" is not "mlp.gate_proj".
bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.starts_with("re:")) return fits(std::string(pattern.substr(3)), name);
  std::size_t at = 0;
  for (std::size_t star = pattern.find('*'); star != std::string_view::npos; star = pattern.find('*')) {
    const std::string_view part = pattern.substr(0, star);
    const std::size_t found = name.find(part, at);
    if (found == std::string_view::npos) return false;
    at = found + part.size();
    pattern.remove_prefix(star + 1);
  }
  if (pattern.empty()) return true;
  for (std::size_t found = name.find(pattern, at); found != std::string_view::npos;
       found = name.find(pattern, found + 1)) {
    const std::size_t end = found + pattern.size();
    if (end == name.size() || name[end] == '.' || pattern.back() == '.') return true;
  }
  return false;
}

// Modules of a layer whose format stands for that of a part, under the names of different releases.
struct Modules {
  Part part;
  std::array<std::string_view, 4> names;
};
constexpr std::array<Modules, 4> kModules{
    {{Part::attention, {"self_attn.o_proj", "attn.o_proj", "self_attn.kv_b_proj", "linear_attn.out_proj"}},
     {Part::dense_ffn, {"mlp.down_proj", "feed_forward.down_proj", "mlp.down_proj", "mlp.down_proj"}},
     {Part::experts,
      {"mlp.experts.0.down_proj", "block_sparse_moe.experts.0.w2", "feed_forward.experts.down_proj",
       "mlp.experts.down_proj"}},
     {Part::shared_experts,
      {"mlp.shared_experts.down_proj", "mlp.shared_expert.down_proj", "feed_forward.shared_expert.down_proj",
       "block_sparse_moe.shared_experts.down_proj"}}}};

bool excepted(const std::vector<std::string>& exceptions, Part part, std::int64_t layer) {
  const auto* modules = std::ranges::find(kModules, part, &Modules::part);
  return std::ranges::any_of(modules->names, [&](std::string_view module) {
    const std::string name = fmt::format("model.layers.{}.{}", layer, module);
    return std::ranges::any_of(exceptions, [&](const std::string& pattern) { return matches(pattern, name); });
  });
}

std::vector<std::string> exceptions_in(const json& object) {
  std::vector<std::string> out;
  for (const char* name : {"modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers"}) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_array()) continue;
    for (const json& item : *found) {
      if (item.is_string()) out.push_back(item.get<std::string>());
    }
  }
  return out;
}

// A group of compressed-tensors: how its weights and activations are stored.
std::optional<std::string> group_format(const json& group) {
  const json* weights = object_in(group, "weights");
  if (weights == nullptr) return std::nullopt;
  const int bits = bits_of(*weights, "num_bits");
  const bool is_float = text_of(*weights, "type") == "float";
  const bool weights_only = object_in(group, "input_activations") == nullptr;
  if (is_float && bits == 8) return text_of(*weights, "strategy") == "block" ? "fp8_block" : "fp8";
  if (is_float && bits == 4) return bits_of(*weights, "group_size") == 32 ? "w4a16_mxfp4" : "nvfp4";
  if (!is_float && bits == 4) return "int4_wo";
  if (!is_float && bits == 8) return weights_only ? "int8_wo" : "int8";
  return std::nullopt;
}

std::optional<std::string> algorithm_format(const std::string& algorithm) {
  if (algorithm == "fp8") return "fp8";
  if (algorithm == "fp8_pb_wo" || algorithm == "fp8_block_scales") return "fp8_block";
  if (algorithm == "nvfp4" || algorithm == "fp4" || algorithm == "nvfp4_awq") return "nvfp4";
  if (algorithm == "w4a16_awq" || algorithm == "w4a16") return "int4_wo";
  if (algorithm == "w8a16") return "int8_wo";
  if (algorithm == "w8a8_sq_per_channel") return "sq";
  return std::nullopt;
}

// The format of everything that is quantised; nullopt when the method is not known.
std::optional<std::string> weight_format(const json& quantization) {
  const std::string method = text_of(quantization, "quant_method");
  if (const json* groups = object_in(quantization, "config_groups"); groups != nullptr && !groups->empty()) {
    return group_format(*groups->begin());
  }
  if (const std::string algorithm = text_of(quantization, "quant_algo"); !algorithm.empty()) {
    return algorithm_format(algorithm);
  }
  if (method == "fp8" || method == "fbgemm_fp8") {
    return quantization.contains("weight_block_size") && !quantization["weight_block_size"].is_null() ? "fp8_block"
                                                                                                      : "fp8";
  }
  if (method == "mxfp4") return "w4a16_mxfp4";
  if (method == "gptq" || method == "awq") return bits_of(quantization, "bits") == 8 ? "int8_wo" : "int4_wo";
  return std::nullopt;
}

bool fp8_cache(const json& quantization) {
  for (const char* name : {"kv_cache_scheme", "kv_cache_quant_algo"}) {
    const auto found = quantization.find(name);
    if (found == quantization.end()) continue;
    if (found->is_object() && bits_of(*found, "num_bits") == 8) return true;
    if (found->is_string() && lower_case(found->get<std::string>()) == "fp8") return true;
  }
  return false;
}

}  // namespace

Result<Formats> read_formats(const json& quantization, const std::string& base, std::int64_t layer) {
  Formats formats{base, base, base, base, base, base};
  if (quantization.is_null()) return formats;
  if (!quantization.is_object()) {
    return Error{ErrorCode::bad_data,
                 fmt::format("quantization_config is {}, which is no object", quantization.dump())};
  }
  // ModelOpt's own file holds the object under "quantization".
  const json* inner = object_in(quantization, "quantization");
  const json& object = inner != nullptr ? *inner : quantization;
  const auto quantised = weight_format(object);
  if (!quantised) {
    return Error{ErrorCode::bad_data,
                 fmt::format("quantization_config: quant_method '{}', quant_algo '{}' is not known; --dtype names the "
                             "format of the weights",
                             text_of(object, "quant_method"), text_of(object, "quant_algo"))};
  }
  const auto exceptions = exceptions_in(object);
  const auto format = [&](Part part) { return excepted(exceptions, part, layer) ? base : *quantised; };
  formats.attention = format(Part::attention);
  formats.dense_ffn = format(Part::dense_ffn);
  formats.experts = format(Part::experts);
  formats.shared_experts = format(Part::shared_experts);
  if (fp8_cache(object)) formats.kv_cache = "fp8";
  return formats;
}

}  // namespace roofcal::models
