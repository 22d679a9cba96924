// `predict model`: a whole language model.
#include "cli/predict_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>

#include "cli/answer_report.h"
#include "cli/describe_model.h"
#include "cli/session.h"
#include "cli/step_report.h"
#include "cli/verbs.h"
#include "core/dtype.h"
#include "core/moe.h"
#include "core/spelling.h"
#include "db/catalogue.h"
#include "predictor/models/library.h"
#include "predictor/step/runtime_formats.h"
#include "report/text.h"

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

constexpr std::size_t kMostWarnings = 20;  // lines on stderr; the answer keeps all of them
// What the routers of trained models were seen to do, and what most tables of experts were timed with: power laws
// of 1.0 to 1.2.
constexpr std::string_view kDistribution = "power_law_1.2";

Result<LowerOptions> lower_options(const ModelOptions& options) {
  LowerOptions out;
  const std::string_view text = options.distribution.empty() ? kDistribution : std::string_view(options.distribution);
  const auto distribution = parse_distribution(text);
  if (!distribution) {
    return Error{ErrorCode::usage,
                 fmt::format("--distribution '{}' is not known: balanced, power_law_1.2, ...", options.distribution)};
  }
  out.distribution = *distribution;
  out.topology = options.topology;
  out.drafting = options.draft_tokens > 0;
  return out;
}

// Each drafted token counts if it and all before it were accepted.
double tokens_a_sequence(const ModelOptions& options) {
  double sum = 1.0;
  double all_kept = 1.0;
  for (std::int64_t i = 0; i < options.draft_tokens; ++i) {
    all_kept *= std::max(options.draft_acceptance, 0.0);
    sum += all_kept;
  }
  return sum;
}

// With --strict: which operators make the step what it may not be.
std::optional<Error> complaint(const ToldStep& step) {
  const Provenance whole = step.time.provenance;
  if (whole == Provenance::measured || whole == Provenance::interpolated) return std::nullopt;
  std::vector<std::string> weak;
  for (const OperatorTime& line : step.lines) {
    if (line.each.provenance <= Provenance::interpolated) continue;
    weak.push_back(fmt::format("{} {} ({:.1f} %)", line.lowered->name, to_string(line.each.provenance),
                               100.0 * (line.calls * line.each.time / step.time.time)));
  }
  return strict_complaint(whole, "the step", weak);
}

Result<ToldStep> told(Session& session, const ModelOptions& options, models::ModelDescription model,
                      const std::string& gpu, const AskedStep& asked) {
  const auto predictor = session.predictor();
  if (!predictor) return predictor.error();
  const auto spec = (*predictor)->gpu(gpu);
  if (!spec) return spec.error();
  const auto lowering = lower_options(options);
  if (!lowering) return lowering.error();
  const Question who = options.question.question(gpu);
  const Parallelism spread = asked_spread(options);
  if (options.dtype.empty()) choose_runtime_formats(model, **spec, who.framework);
  auto steps =
      StepPredictor::make(**predictor, **spec, model, spread, {(*spec)->name, who.framework, who.version, *lowering});
  if (!steps) return steps.error();
  ToldStep out{std::move(model), **spec, spread, asked, {}, {}, tokens_a_sequence(options), {}, {}};
  const auto time = steps->evaluate(asked.tokens, out.lines);
  if (!time) return time.error();
  out.time = *time;
  out.memory = plan_memory(out.model, spread, **spec, asked.tokens, asked.cached);
  out.warnings = out.model.notes;
  if (!out.memory.fits) {
    out.warnings.push_back(fmt::format("it does not fit: {} needs {} a GPU, and {} of its {} are usable", (*spec)->name,
                                       report::scaled(out.memory.needed().value(), report::Unit::bytes),
                                       report::scaled(out.memory.usable.value(), report::Unit::bytes),
                                       report::scaled(out.memory.capacity.value(), report::Unit::bytes)));
  }
  for (std::string& warning : steps->warnings(asked.tokens, out.lines)) out.warnings.push_back(std::move(warning));
  // Lines refer to operators of the predictor, which ends here.
  out.keep = std::make_shared<StepPredictor>(*std::move(steps));
  return out;
}

Result<int> predict_model(Session& session, const ModelOptions& options) {
  if (options.describe) return describe_model(session, options);
  if (options.question.gpu.empty()) {
    return Error{ErrorCode::usage,
                 "--gpu is required: a name such as h200_sxm (`roofcal gpu list` shows them); --describe needs none"};
  }
  if (!options.question.kernel.empty()) {
    return Error{ErrorCode::usage, "--kernel forces the kernel of one operator; a model has many"};
  }
  const auto asked = asked_step(options);
  if (!asked) return asked.error();
  const auto model = options.model();
  if (!model) return model.error();

  std::vector<ToldStep> steps;
  for (const std::string& gpu : split_list(options.question.gpu)) {
    auto step = told(session, options, *model, gpu, *asked);
    if (!step) return step.error();
    steps.push_back(*std::move(step));
  }
  std::vector<std::string> warned;
  for (const ToldStep& step : steps) {
    if (session.options().strict) {
      if (auto refused = complaint(step)) return *refused;
    }
    for (const std::string& warning : step.warnings) {
      if (std::ranges::find(warned, warning) == warned.end()) warned.push_back(warning);
    }
  }
  for (std::size_t i = 0; i < warned.size() && i < kMostWarnings; ++i) session.warn(warned[i]);
  if (warned.size() > kMostWarnings) {
    session.warn(fmt::format("{} more warnings; --format json has them all", warned.size() - kMostWarnings));
  }
  const report::Format format = session.format();
  const bool flat = format == report::Format::csv || format == report::Format::md;
  session.print(flat ? operator_rows(steps) : step_report(steps, options.phase));
  return 0;
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
  verb.add_option("--ep", ep, "expert parallel GPUs, among the tp x dp of a stage; default 1")
      ->check(at_least_one)
      ->group(group);
  verb.add_option("--dp", dp, "data parallel copies of the attention; default 1")->check(at_least_one)->group(group);

  group = "What the step holds";
  verb.add_option("--phase", phase, "prefill, decode or mixed")->type_name("P")->check(one_of(phases))->group(group);
  verb.add_option("--batch", batch, "sequences (of each attention rank, with --dp); default 1")
      ->check(at_least_one)
      ->group(group);
  verb.add_option("--isl", isl, "input tokens a sequence")->type_name("N")->check(at_least_one)->group(group);
  verb.add_option("--osl", osl, "output tokens a sequence: decode happens halfway through them, memory holds all")
      ->type_name("N")
      ->check(at_least_one)
      ->group(group);
  verb.add_option("--prefix", prefix, "those of the input tokens that are cached already; default 0")
      ->type_name("N")
      ->check(at_least_zero)
      ->group(group);
  verb.add_option("--chunk", chunk, "prefill tokens of a mixed step; default: a whole prompt")
      ->type_name("N")
      ->check(at_least_one)
      ->group(group);
  verb.add_option("--draft-tokens", draft_tokens, "tokens that a multi-token-prediction layer drafts a step; default 0")
      ->type_name("K")
      ->check(at_least_zero)
      ->group(group);
  verb.add_option("--draft-acceptance", draft_acceptance,
                  "share of drafted tokens that is accepted, each after the one before")
      ->type_name("A")
      ->check(CLI::Range(0.0, 1.0))
      ->group(group);
  verb.add_option("--distribution", distribution,
                  "how the router loads experts: balanced, power_law_1.2, ...; default power_law_1.2")
      ->type_name("D")
      ->group(group);
  verb.add_option("--topology", topology, "how the GPUs are connected, as calibrated; default node")
      ->type_name("WORD")
      ->group(group);
  question.add_options(verb, "GPU, or several: A,B");
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
  CLI::App& verb = add_verb(
      predict, "model", "a language model: what it holds, and how long a step takes",
      "  roofcal predict model Qwen/Qwen3-32B --describe\n"
      "  roofcal predict model path/to/config.json --describe --format json\n"
      "  roofcal predict model Qwen/Qwen3-32B --gpu h200_sxm --tp 2 --phase decode --batch 64 --isl 4000\n"
      "  roofcal predict model deepseek-ai/DeepSeek-V3 --gpu h200_sxm --dp 8 --ep 8 --phase prefill --isl 4000");
  const auto options = std::make_shared<ModelOptions>();
  options->add_options(verb);
  Action& action = predict.action;
  verb.callback(
      [options, &action] { action = [options](Session& session) { return predict_model(session, *options); }; });
}

}  // namespace roofcal::cli
