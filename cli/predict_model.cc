// `predict model`: a whole language model.
#include "cli/predict_model.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <memory>

#include "cli/describe_model.h"
#include "cli/session.h"
#include "cli/spelling.h"
#include "cli/verbs.h"
#include "core/dtype.h"
#include "db/catalogue.h"
#include "predictor/models/library.h"

namespace roofcal::cli {
namespace {

// A number format by name or alias, under its canonical name; empty stays empty.
Result<std::string> format_named(const char* flag, const std::string& text) {
  if (text.empty()) return text;
  if (const DType* dtype = find_dtype(text)) return std::string(dtype->name);
  std::vector<std::string> names;
  for (const DType& dtype : all_dtypes()) names.emplace_back(dtype.name);
  return Error{ErrorCode::usage, fmt::format("{}: '{}' is no number format; there is {}{}", flag, text,
                                             fmt::join(names, ", "), did_you_mean(text, names))};
}

Result<int> predict_model(Session& session, const ModelOptions& options) {
  if (options.describe) return describe_model(session, options);
  return Error{ErrorCode::usage, "`roofcal predict model` comes in a later step; with --describe it counts the model"};
}

}  // namespace

void ModelOptions::add_options(CLI::App& verb) {
  static constexpr std::array<std::string_view, 3> phases{"prefill", "decode", "mixed"};
  const CLI::Range at_least_one(std::int64_t{1}, std::numeric_limits<std::int64_t>::max(), "N");
  const CLI::Range at_least_zero(std::int64_t{0}, std::numeric_limits<std::int64_t>::max(), "N");

  verb.add_option("config", config, "config.json, a folder with one, or a built-in model by its Hugging Face name")
      ->type_name("CONFIG")
      ->required();
  verb.add_flag("--describe", describe, "counts and shapes only; needs no GPU");
  verb.add_option("--as", as, "read the config by the rules of this family, whatever it says it is")
      ->type_name("FAMILY");
  verb.add_option("--dtype", dtype, "format of the weights; default: the config's")->type_name("T");
  verb.add_option("--kv-dtype", kv_dtype, "format of the cache; default: the config's")->type_name("T");

  const char* group = "How it is spread";
  verb.add_option("--tp", tp, "tensor parallel GPUs; default 1")->check(at_least_one)->group(group);
  verb.add_option("--pp", pp, "pipeline stages; default 1")->check(at_least_one)->group(group);
  verb.add_option("--ep", ep, "expert parallel GPUs; default 1")->check(at_least_one)->group(group);
  verb.add_option("--dp", dp, "data parallel copies of the attention; default 1")->check(at_least_one)->group(group);

  group = "What the step holds";
  verb.add_option("--phase", phase, "prefill, decode or mixed")->type_name("P")->check(one_of(phases))->group(group);
  verb.add_option("--batch", batch, "sequences; default 1")->check(at_least_one)->group(group);
  verb.add_option("--isl", isl, "input tokens a sequence")->type_name("N")->check(at_least_one)->group(group);
  verb.add_option("--osl", osl, "output tokens a sequence")->type_name("N")->check(at_least_one)->group(group);
  verb.add_option("--prefix", prefix, "input tokens that are cached already; default 0")
      ->type_name("N")
      ->check(at_least_zero)
      ->group(group);
  verb.add_option("--chunk", chunk, "prefill tokens of a mixed step")
      ->type_name("N")
      ->check(at_least_one)
      ->group(group);
  question.add_options(verb, "GPU");
}

Result<models::ModelDescription> ModelOptions::model() const {
  auto weights = format_named("--dtype", dtype);
  if (!weights) return weights.error();
  auto cache = format_named("--kv-dtype", kv_dtype);
  if (!cache) return cache.error();
  models::ReadOptions read;
  read.as = as;
  read.dtype = *std::move(weights);
  auto model = models::ModelLibrary(models_folder()).describe(config, read);
  if (model && !cache->empty()) model->formats.kv_cache = *cache;
  return model;
}

void add_predict_model(const Registry& predict) {
  CLI::App& verb = add_verb(predict, "model", "a language model: what it holds, and how long a step takes",
                            "  roofcal predict model Qwen/Qwen3-32B --describe\n"
                            "  roofcal predict model path/to/config.json --describe --format json\n"
                            "  roofcal predict model Qwen/Qwen3-32B --gpu h200_sxm --phase decode --batch 64 --isl 4000"
                            " (comes in a later step)");
  const auto options = std::make_shared<ModelOptions>();
  options->add_options(verb);
  Action& action = predict.action;
  verb.callback(
      [options, &action] { action = [options](Session& session) { return predict_model(session, *options); }; });
}

}  // namespace roofcal::cli
