#include "predictor/models/read_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "predictor/models/config_fields.h"
#include "predictor/models/counts.h"
#include "predictor/models/families.h"
#include "predictor/models/layer_rules.h"
#include "predictor/models/quantization.h"

namespace roofcal::models {
namespace {

using nlohmann::json;

// Where releases of several modalities keep their language model.
constexpr std::array<const char*, 5> kNested{"thinker_config", "text_config", "llm_config", "language_config",
                                             "language_model_config"};
// Endings of architectures that have a language-model head.
constexpr std::array<std::string_view, 3> kHeads{"ForCausalLM", "ForConditionalGeneration", "LMHeadModel"};
// Encoders that people hand over by mistake.
constexpr std::array<std::string_view, 17> kEncoders{
    "albert",     "bert",        "camembert",  "clip",       "clip_text_model", "deberta", "deberta-v2",
    "distilbert", "electra",     "modernbert", "nomic_bert", "roberta",         "siglip",  "vit",
    "wav2vec2",   "xlm-roberta", "mpnet"};
// A model of one layer is no language model unless it is a toy.
constexpr std::int64_t kToyWidth = 1024;
constexpr int kDeepest = 4;

Error refuse(const std::string& where, std::string_view why) {
  return Error{ErrorCode::bad_data, fmt::format("{}: {}", where, why)};
}

// Errors name the line where reading stopped.
Result<json> parse_object(std::string_view text, const std::string& where) {
  json out;
  try {
    out = json::parse(text);
  } catch (const json::parse_error& failure) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(failure.byte, text.size()));
    const auto line = 1 + std::count(text.begin(), end, '\n');
    return Error{
        ErrorCode::bad_data,
        fmt::format("{}:{}: {}", where, line,
                    text.empty() ? "the file is empty"
                                 : "no JSON from here on: give the config.json of a Hugging Face model, whole")};
  }
  if (!out.is_object()) return refuse(where, "this is no JSON object: give the config.json of a Hugging Face model");
  return out;
}

std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string first_architecture(const json& outer, const json& text) {
  for (const json* object : {&outer, &text}) {
    const auto found = object->find("architectures");
    if (found != object->end() && found->is_array() && !found->empty() && found->front().is_string()) {
      return found->front().get<std::string>();
    }
  }
  return "";
}

bool contains_word(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

// What says that a config is a draft model, which shares layers with the model that it drafts for; empty: nothing.
std::string draft_sign(const json& outer, const json& text, const std::string& architecture) {
  for (const char* field : {"draft_vocab_size", "eagle_config", "medusa_num_heads", "speculators_config",
                            "speculators_model_type", "num_lookahead_tokens"}) {
    if (outer.contains(field) || text.contains(field)) return field;
  }
  for (const std::string_view word : {"Eagle", "Medusa", "NextN", "MTP", "Draft", "Speculator"}) {
    if (contains_word(architecture, word)) return architecture;
  }
  for (const json* object : {&outer, &text}) {
    const std::string model_type = text_in(*object, "model_type");
    for (const std::string_view word : {"eagle", "medusa", "speculator", "_mtp", "draft"}) {
      if (contains_word(model_type, word)) return "model_type " + model_type;
    }
  }
  return "";
}

// What keeps a config from being a language model; empty when nothing does. `by_hand`: --as names the family, so that
// an architecture's name alone refuses nothing.
std::string not_a_language_model(const json& outer, const json& text, const std::string& architecture, bool by_hand) {
  if (const std::string sign = draft_sign(outer, text, architecture); !sign.empty()) {
    return fmt::format("a draft model ({}): it lacks a language model of its own, give the one that it drafts for",
                       sign);
  }
  const auto encoder_decoder = outer.find("is_encoder_decoder");
  if (encoder_decoder != outer.end() && encoder_decoder->is_boolean() && encoder_decoder->get<bool>()) {
    return "an encoder-decoder (is_encoder_decoder): it lacks a decoder-only language model";
  }
  const std::string model_type = text_in(text, "model_type");
  if (std::ranges::find(kEncoders, model_type) != kEncoders.end()) {
    return fmt::format("an encoder (model_type {}): it lacks a decoder with a language-model head", model_type);
  }
  const auto ends_so = [&](std::string_view ending) { return architecture.ends_with(ending); };
  if (!by_hand && !architecture.empty() && std::ranges::none_of(kHeads, ends_so)) {
    return fmt::format("{} lacks a language-model head: an encoder, a classifier or part of a model", architecture);
  }
  return "";
}

bool biased(ConfigFields& fields, Bias rule, ConfigFields::Names flags) {
  if (rule == Bias::always) return fields.flag({"enable_bias"}, true);  // OPT may turn them off
  return rule == Bias::by_config && fields.flag(flags, false);
}

std::int64_t head_dim_of(ConfigFields& fields, const Family& family, std::int64_t hidden, std::int64_t heads) {
  if (fields.has({"head_dim"})) return fields.count({"head_dim"});
  if (family.default_head_dim > 0) return family.default_head_dim;
  if (hidden % heads != 0) {
    if (fields.missing().empty() && fields.wrong().empty()) fields.lacks("head_dim");
    return 1;
  }
  return hidden / heads;
}

std::optional<std::int64_t> known(std::int64_t fallback) {
  return fallback > 0 ? std::optional<std::int64_t>(fallback) : std::nullopt;
}

Attention read_attention(ConfigFields& fields, const Family& family, std::int64_t hidden) {
  Attention attention;
  attention.heads =
      fields.count({"num_attention_heads", "n_head", "num_heads", "n_heads"}, known(family.default_heads));
  attention.head_dim = head_dim_of(fields, family, hidden, attention.heads);
  // Falcon and GPT-BigCode: one key/value head, unless the newer decoder says how many.
  const bool new_decoder = fields.flag({"new_decoder_architecture"}, false);
  const bool falcon = family.model_type == "falcon" && !fields.has({"n_head_kv", "num_kv_heads"});
  const bool one_head = fields.flag({"multi_query"}, falcon) && !new_decoder;
  attention.kv_heads = one_head ? 1
                                : fields.count({"num_key_value_heads", "num_kv_heads", "n_head_kv"},
                                               family.default_kv_heads > 0 ? family.default_kv_heads : attention.heads);
  attention.qkv_bias = biased(fields, family.qkv_bias, {"attention_bias", "use_qkv_bias", "qkv_bias", "bias"});
  if (family.model_type == "qwen2" || family.model_type == "qwen2_moe") {
    attention.qkv_bias = fields.flag({"qkv_bias"}, true);
  }
  attention.out_bias =
      biased(fields, family.out_bias, {"attention_out_bias", "attention_output_bias", "attention_bias", "bias"});
  attention.qk_norm = family.qk_norm;
  const bool has_norm = fields.flag({"use_qk_norm", "qk_layernorm"}, family.qk_norm != Attention::QkNorm::none);
  if (has_norm && attention.qk_norm == Attention::QkNorm::none && family.windows != Windows::llama4) {
    // Llama 4 normalises without weights. MiniMax M2's "per_layer" norm is as wide as the projection.
    attention.qk_norm =
        fields.text({"qk_norm_type"}, "") == "per_layer" ? Attention::QkNorm::per_width : Attention::QkNorm::per_head;
  }
  if (!has_norm) attention.qk_norm = Attention::QkNorm::none;
  attention.output_gate = fields.flag({"attn_output_gate"}, family.output_gate);
  attention.sinks = family.sinks;
  if (attention.heads % attention.kv_heads != 0) {
    fields.complain(fmt::format("{} attention heads are not shared evenly by {} key/value heads", attention.heads,
                                attention.kv_heads));
  }
  return attention;
}

Mla read_mla(ConfigFields& fields) {
  Mla mla;
  mla.heads = fields.count({"num_attention_heads"});
  mla.q_rank = fields.count_or_zero({"q_lora_rank"}, 0);
  mla.kv_rank = fields.count({"kv_lora_rank"});
  mla.nope_dim = fields.count({"qk_nope_head_dim"});
  mla.rope_dim = fields.count({"qk_rope_head_dim"});
  mla.v_dim = fields.count({"v_head_dim"});
  mla.bias = fields.flag({"attention_bias"}, false);
  if (fields.has({"index_topk"}) || fields.has({"index_n_heads"})) {
    mla.indexer =
        Indexer{fields.count({"index_n_heads"}), fields.count({"index_head_dim"}), fields.count({"index_topk"})};
  }
  return mla;
}

LinearAttention read_linear(ConfigFields& fields) {
  return {fields.count({"linear_num_key_heads"}), fields.count({"linear_num_value_heads"}),
          fields.count({"linear_key_head_dim"}), fields.count({"linear_value_head_dim"}),
          fields.count({"linear_conv_kernel_dim"})};
}

MoeFfn read_moe(ConfigFields& fields, const Family& family, std::int64_t hidden) {
  MoeFfn moe;
  moe.experts = fields.count({"num_experts", "num_local_experts", "n_routed_experts"});
  moe.topk = fields.count({"num_experts_per_tok", "experts_per_token", "num_experts_per_token", "top_k_experts"});
  const bool llama4 = family.windows == Windows::llama4;
  moe.inter =
      llama4 ? fields.count({"intermediate_size"}) : fields.count({"moe_intermediate_size", "intermediate_size"});
  moe.gated = family.gated;
  moe.expert_bias = family.expert_bias;
  moe.router_extra = family.router_bias ? moe.experts : 0;
  if (family.model_type == "gemma4") moe.router_extra = hidden + moe.experts;  // a scale a column and an expert
  if (llama4) {
    moe.shared_inter = moe.inter;
  } else if (fields.has({"shared_expert_intermediate_size"})) {
    moe.shared_inter = fields.count_or_zero({"shared_expert_intermediate_size"}, 0);
    moe.shared_gate = moe.shared_inter > 0;
  } else {
    moe.shared_inter = fields.count_or_zero({"n_shared_experts", "num_shared_experts"}, 0) * moe.inter;
  }
  if (moe.topk > moe.experts) {
    fields.complain(fmt::format("a token takes {} of {} experts", moe.topk, moe.experts));
  }
  return moe;
}

// Gemma 4: full layers have head sizes of their own, late layers use the cache of earlier ones, and experts work beside
// a dense feed-forward.
void apply_gemma4(ConfigFields& fields, std::vector<Layer>& layers) {
  const auto count = static_cast<std::int64_t>(layers.size());
  const std::int64_t global_dim = fields.count({"global_head_dim"}, 512);
  const bool key_is_value = fields.flag({"attention_k_eq_v"}, false);
  const std::int64_t borrowers = fields.count_or_zero({"num_kv_shared_layers"}, 0);
  const bool wide = fields.flag({"use_double_wide_mlp"}, false);
  // A null turns per-layer inputs off; a config that says nothing has the default width.
  const std::int64_t own_input =
      fields.names_null("hidden_size_per_layer_input") ? 0 : fields.count_or_zero({"hidden_size_per_layer_input"}, 256);
  for (std::int64_t i = 0; i < count; ++i) {
    Layer& layer = layers[static_cast<std::size_t>(i)];
    auto& attention = std::get<Attention>(layer.mixer);
    if (attention.window == 0) {
      attention.head_dim = global_dim;
      attention.key_is_value = key_is_value;
      if (key_is_value) attention.kv_heads = fields.count({"num_global_key_value_heads"}, attention.kv_heads);
    }
    attention.borrows_cache = borrowers > 0 && i >= count - borrowers;
    if (attention.borrows_cache && wide && layer.dense) layer.dense->inter *= 2;
    if (layer.moe) layer.norms += 3;
    if (own_input > 0) {
      layer.per_layer_input = own_input;
      ++layer.norms;
    }
  }
}

// Nemotron-NAS: what each block kept of its Llama layer.
void apply_blocks(ConfigFields& fields, std::int64_t hidden, std::vector<Layer>& layers) {
  const json* blocks = fields.find({"block_configs"});
  if (blocks == nullptr || !blocks->is_array() || blocks->size() != layers.size()) {
    fields.lacks("block_configs of every layer");
    return;
  }
  constexpr double kMultiple = 256.0;  // configuration_decilm.py: widths are rounded up to it
  const auto flag = [](const json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_boolean() && found->get<bool>();
  };
  const auto number = [](const json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const json& block = (*blocks)[i];
    if (!block.is_object() || !block.contains("attention") || !block.contains("ffn")) {
      fields.lacks(fmt::format("attention and ffn of block_configs[{}]", i));
      return;
    }
    Layer& layer = layers[i];
    const json& attention = block["attention"];
    auto mixer = std::get<Attention>(layer.mixer);
    if (flag(attention, "no_op") || flag(attention, "replace_with_linear")) {
      layer.mixer = std::monostate{};
      --layer.norms;
      if (flag(attention, "replace_with_linear")) layer.other_parameters += hidden * hidden + hidden;
    } else {
      const double heads = number(attention, "num_key_value_heads");
      const double group = number(attention, "n_heads_in_group");
      if (heads <= 0.0 && group <= 0.0) fields.lacks(fmt::format("block_configs[{}].attention.n_heads_in_group", i));
      mixer.kv_heads = heads > 0.0 ? static_cast<std::int64_t>(heads)
                                   : mixer.heads / std::max<std::int64_t>(1, static_cast<std::int64_t>(group));
      mixer.window = static_cast<std::int64_t>(number(attention, "window_length"));
      layer.mixer = mixer;
    }
    const json& ffn = block["ffn"];
    if (flag(ffn, "no_op") || flag(ffn, "replace_with_linear")) {
      layer.dense.reset();
      --layer.norms;
      if (flag(ffn, "replace_with_linear")) layer.other_parameters += hidden * hidden + hidden;
    } else {
      const double inter = number(ffn, "intermediate_size");
      const double mult = number(ffn, "ffn_mult");
      if (inter <= 0.0 && mult <= 0.0) fields.lacks(fmt::format("block_configs[{}].ffn.ffn_mult", i));
      const auto raw = static_cast<std::int64_t>(2.0 * mult * static_cast<double>(hidden) / 3.0);
      const auto multiple = static_cast<std::int64_t>(kMultiple);
      layer.dense = DenseFfn{
          inter > 0.0 ? static_cast<std::int64_t>(inter) : (raw + multiple - 1) / multiple * multiple, true, false};
    }
  }
}

std::int64_t window_of(ConfigFields& fields, const Family& family) {
  if (family.windows == Windows::llama4) return fields.count({"attention_chunk_size"});
  return fields.count({"sliding_window", "sliding_window_size"});
}

std::vector<Layer> read_layers(ConfigFields& fields, const Family& family, std::int64_t hidden, std::int64_t count) {
  const bool blocks = family.model_type == "nemotron-nas";
  // Dense siblings of a mixture name zero experts.
  const bool has_experts =
      family.moe || (fields.count_or_zero({"num_experts", "num_local_experts", "n_routed_experts"}, 0) > 0 &&
                     fields.flag({"enable_moe_block"}, true));
  const bool latent = family.mla || fields.has({"kv_lora_rank"});

  Layer layer;
  layer.norms = family.norms;
  if (family.model_type == "falcon" && fields.flag({"new_decoder_architecture"}, false) == false &&
      fields.flag({"parallel_attn"}, true)) {
    layer.norms = 1;  // one norm feeds both branches
  }
  std::optional<MoeFfn> moe;
  if (has_experts) moe = read_moe(fields, family, hidden);
  const bool beside = family.model_type == "gemma4";  // experts beside a dense feed-forward, not in its place
  const auto with_experts = has_experts && !beside ? moe_layers(fields, family, count)
                                                   : std::vector<bool>(static_cast<std::size_t>(count), has_experts);
  const bool any_dense =
      !blocks && (beside || std::ranges::any_of(with_experts, [](bool experts) { return !experts; }));
  std::optional<DenseFfn> dense;
  if (any_dense) {
    dense.emplace();
    dense->inter = family.windows == Windows::llama4
                       ? fields.count({"intermediate_size_mlp"})
                       : fields.count({"intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"},
                                      family.inter_per_hidden > 0 ? std::optional(family.inter_per_hidden * hidden)
                                                                  : std::nullopt);
    dense->gated = family.gated;
    dense->bias = biased(fields, family.mlp_bias, {"mlp_bias", "bias"});
  }

  const auto types = layer_types(fields, family, count);
  const auto has_type = [&types](LayerType type) { return std::ranges::find(types, type) != types.end(); };
  std::optional<Mla> mla;
  std::optional<Attention> attention;
  std::optional<LinearAttention> linear;
  if (latent) {
    mla = read_mla(fields);
  } else if (has_type(LayerType::full) || has_type(LayerType::sliding)) {
    attention = read_attention(fields, family, hidden);
  }
  if (has_type(LayerType::linear)) linear = read_linear(fields);
  const std::int64_t window = has_type(LayerType::sliding) ? window_of(fields, family) : 0;

  std::vector<Layer> layers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    Layer one = layer;
    if (types[i] == LayerType::linear) {
      one.mixer = *linear;
    } else if (mla) {
      one.mixer = *mla;
    } else {
      Attention mixer = *attention;
      mixer.window = types[i] == LayerType::sliding ? window : 0;
      one.mixer = mixer;
    }
    if (with_experts[i]) one.moe = moe;
    if (!with_experts[i] || beside) one.dense = dense;
    layers.push_back(std::move(one));
  }
  if (beside && attention) apply_gemma4(fields, layers);
  if (blocks && attention) apply_blocks(fields, hidden, layers);
  return layers;
}

std::string base_format(const ConfigFields& fields, std::vector<std::string>& notes) {
  const json* found = fields.find_anywhere({"torch_dtype", "dtype"});
  const DType* dtype = found != nullptr && found->is_string() ? find_dtype(found->get<std::string>()) : nullptr;
  if (dtype != nullptr && dtype->name == "float16") return "float16";
  if (dtype != nullptr && dtype->name == "float32") {
    notes.emplace_back("stored as float32: served as bfloat16, as the engines do");
  }
  return "bfloat16";
}

}  // namespace

Result<ModelDescription> read_config(std::string_view text, const std::string& name, const std::string& where,
                                     const ReadOptions& options) {
  auto parsed = parse_object(text, where);
  if (!parsed) return parsed.error();
  const json outer = *std::move(parsed);
  const json* model = &outer;
  const json* around = &outer;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const auto* nested = std::ranges::find_if(kNested, [&](const char* key) {
      const auto found = model->find(key);
      return found != model->end() && found->is_object();
    });
    if (nested == kNested.end()) break;
    around = model;
    model = &(*model)[*nested];
  }

  const std::string architecture = first_architecture(outer, *model);
  std::string model_type = text_in(*model, "model_type");
  if (model_type.empty()) model_type = text_in(outer, "model_type");
  std::vector<std::string_view> families;
  for (const Family& family : all_families()) families.push_back(family.model_type);
  const Family* family = find_family(options.as.empty() ? model_type : options.as);
  const bool by_hand = !options.as.empty();
  const std::string complaint = not_a_language_model(outer, *model, architecture, by_hand);
  if (!complaint.empty()) return refuse(where, complaint);
  if (!by_hand) {
    if (family == nullptr) {
      const std::string what = model_type.empty()
                                   ? "model_type is missing"
                                   : fmt::format("architecture {} (model_type {}) is not known",
                                                 architecture.empty() ? "without a name" : architecture, model_type);
      return refuse(where,
                    fmt::format("{}: --as FAMILY reads it by the rules of one of {}", what, fmt::join(families, ", ")));
    }
  } else if (family == nullptr) {
    return Error{ErrorCode::usage,
                 fmt::format("--as {} is no family; there is {}", options.as, fmt::join(families, ", "))};
  }

  ConfigFields fields(*model, *around);
  ModelDescription out;
  out.name = name;
  out.family = family->model_type;
  out.hidden = fields.count({"hidden_size", "n_embd", "d_model"});
  out.vocab = fields.count({"vocab_size"}, known(family->default_vocab));
  out.embedding_width = fields.count({"word_embed_proj_dim"}, out.hidden);
  const std::int64_t layers = fields.count({"num_hidden_layers", "n_layer", "num_layers", "n_layers"});
  out.norm_bias = family->norm_bias;
  out.head_bias = fields.flag({"lm_head_bias"}, family->head_bias);
  const json* tied = fields.find_anywhere({"tie_word_embeddings"});
  out.tied = tied != nullptr && tied->is_boolean() ? tied->get<bool>() : family->tied;
  if (family->position_offset >= 0) {
    out.learned_positions = fields.count({"max_position_embeddings", "n_positions"}) + family->position_offset;
  }
  out.final_norm = fields.flag({"do_layer_norm_before"}, true);
  constexpr std::int64_t kMostLayers = 10'000;
  if (layers > kMostLayers) return refuse(where, fmt::format("num_hidden_layers is {}: no model has so many", layers));
  out.layers = read_layers(fields, *family, out.hidden, layers);
  if (!out.layers.empty() && out.layers.front().per_layer_input > 0) {
    out.per_layer_vocab = fields.count({"vocab_size_per_layer_input"}, out.vocab);
  }
  if (!fields.missing().empty() || !fields.wrong().empty()) {
    std::vector<std::string> names;  // each once, in order
    for (const std::string& field : fields.missing()) {
      if (std::ranges::find(names, field) == names.end()) names.push_back(field);
    }
    std::vector<std::string> why = fields.wrong();
    if (!names.empty()) {
      why.insert(why.begin(), fmt::format("lacks {} (read as family {})", fmt::join(names, ", "), family->model_type));
    }
    return refuse(where, fmt::format("{}", fmt::join(why, "; ")));
  }
  if (layers == 1 && out.hidden >= kToyWidth) {
    return refuse(where, fmt::format("num_hidden_layers 1 at hidden_size {} is a draft model, not a language model: "
                                     "give the one that it drafts for",
                                     out.hidden));
  }

  constexpr double kMostParameters = 1e15;
  if (const double parameters = count(out).parameters; parameters > kMostParameters) {
    return refuse(where, fmt::format("counts {:.3g} parameters: no model has so many", parameters));
  }

  const std::string base = base_format(fields, out.notes);
  if (!options.dtype.empty()) {
    const bool is_base = options.dtype == "bfloat16" || options.dtype == "float16";
    const std::string& kept = is_base ? options.dtype : base;
    out.formats = Formats{kept, options.dtype, options.dtype, options.dtype, options.dtype, kept};
    return out;
  }
  json quantization;
  if (const json* found = fields.find_anywhere({"quantization_config"})) {
    quantization = *found;
  } else if (outer.contains("quantization_config")) {
    quantization = outer["quantization_config"];
  } else if (!options.quantization.empty()) {
    quantization = json::parse(options.quantization, nullptr, false);
    if (!quantization.is_object()) return refuse(where, "hf_quant_config.json beside it is no JSON object");
  }
  auto formats = read_formats(quantization, base, layers / 2);
  if (!formats) return refuse(where, formats.error().message);
  out.formats = *std::move(formats);
  if (quantization.is_null()) {
    for (const std::string_view word : {"NVFP4", "FP4", "FP8", "AWQ", "GPTQ", "INT4", "INT8"}) {
      if (!contains_word(name, word)) continue;
      out.notes.push_back(
          fmt::format("the name says {} but the config has no quantization_config: weights are counted "
                      "as {}; hf_quant_config.json beside it, or --dtype, would say",
                      word, base));
      break;
    }
  }
  return out;
}

}  // namespace roofcal::models
