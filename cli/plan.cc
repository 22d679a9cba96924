// `plan`: which shapes to measure next.
#include "calibrate/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "cli/field_text.h"
#include "cli/progress.h"
#include "cli/question_options.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "db/catalogue.h"
#include "db/shape_list.h"
#include "db/whole_file.h"
#include "predictor/models/library.h"
#include "predictor/plan/model_calls.h"
#include "predictor/plan/plan_classes.h"

namespace roofcal::cli {
namespace {

constexpr double kSecondsAMinute = 60.0;
constexpr double kMostMinutes = 7.0 * 24.0 * 60.0;  // a week

struct Options {
  std::string gpu, op, framework, models, shapes, output;
  double minutes = 0.0;
  std::uint64_t seed = 1;
};

Error unknown_op(const std::string& op) {
  std::vector<std::string> names;
  for (const Operator* known : all_operators()) names.emplace_back(known->name());
  return Error{ErrorCode::usage, fmt::format("--op: '{}' is not known; there is {}", op, fmt::join(names, ", "))};
}

Result<const GpuSpec*> gpu_named(const GpuCatalogue& catalogue, std::string_view where, const std::string& name) {
  const GpuSpec* gpu = catalogue.spec(name);
  if (gpu != nullptr) return gpu;
  const auto close = catalogue.suggestions(name);
  return Error{ErrorCode::usage,
               fmt::format("{}: GPU '{}' is not in the catalogue{}", where, name,
                           close.empty() ? "; `roofcal gpu list` shows it"
                                         : fmt::format("; did you mean {}?", fmt::join(close, " or ")))};
}

// The calls of --shapes, for this GPU.
Result<std::vector<WeightedCall>> listed_calls(Session& session, const Options& options, const GpuCatalogue& catalogue,
                                               const GpuSpec& gpu) {
  std::vector<WeightedCall> calls;
  if (options.shapes.empty()) return calls;
  const auto list = read_shape_list(options.shapes);
  if (!list) return list.error();
  if (!list->gpu.empty()) {
    const auto listed = gpu_named(catalogue, options.shapes, list->gpu);
    if (!listed) return Error{ErrorCode::bad_data, listed.error().message};
    if ((*listed)->name != gpu.name) {
      return Error{ErrorCode::bad_data,
                   fmt::format("{} lists shapes of {}, and --gpu is {}", options.shapes, (*listed)->name, gpu.name)};
    }
  }
  if (!list->passed_over.empty()) {
    session.warn(fmt::format("{}: columns not read: {}", options.shapes, fmt::join(list->passed_over, ", ")));
  }
  for (const ListedShape& shape : list->shapes) {
    calls.push_back({std::string(shape.op->name()), shape.attributes, shape.shape, shape.cache, shape.weight});
  }
  return calls;
}

// The calls of --models.
Result<std::vector<WeightedCall>> calls_of_models(const Options& options, const Predictor& predictor,
                                                  const GpuSpec& gpu) {
  std::vector<models::ModelDescription> described;
  for (const std::string& name : split_list(options.models)) {
    auto model = models::ModelLibrary(models_folder()).describe(name);
    if (!model) return model.error();
    described.push_back(*std::move(model));
  }
  if (described.empty()) {
    return Error{ErrorCode::usage, fmt::format("--models: '{}' names no model", options.models)};
  }
  return model_calls(predictor, gpu, described, framework_name(options.framework));
}

// A plan's shapes as records: the calls in columns that read_shape_list knows, then what they cost.
class ShapeRecords {
 public:
  explicit ShapeRecords(std::span<const PlanClass> classes) {
    std::set<std::string> attributes;
    for (const PlanClass& what : classes) {
      const Operator& op = *find_operator(what.key.op);
      for (const Field& field : op.fields()) {
        if (std::ranges::find(fields_, field.name) == fields_.end()) fields_.push_back(field.name);
      }
      for (const AttributeField& attribute : op.attributes()) attributes.emplace(attribute.name);
    }
    attributes_.assign(attributes.begin(), attributes.end());
    columns_ = {{"gpu", "gpu"}, {"op", "op"}};
    for (const std::string& attribute : attributes_) columns_.push_back({column_name(attribute), attribute});
    columns_.push_back({"cache", "cache"});
    for (const std::string_view field : fields_) columns_.push_back({column_name(field), std::string(field)});
    columns_.push_back({"time_s", "likely time", report::Unit::seconds});
    columns_.push_back({"cost_s", "cost", report::Unit::seconds});
  }

  [[nodiscard]] const std::vector<report::Column>& columns() const { return columns_; }

  [[nodiscard]] report::Record record(const PlanClass& what, const PlanChoice& choice) const {
    const Operator& op = *find_operator(what.key.op);
    const PlanClass::Candidate& candidate = what.candidates[choice.candidate];
    report::Record record{what.key.gpu, what.key.op};
    for (const std::string& name : attributes_) {
      const auto found = what.key.attributes.find(name);
      record.push_back(found == what.key.attributes.end() ? report::Value() : report::Value(found->second));
    }
    record.emplace_back(std::string(to_string(what.key.cache)));
    for (const std::string_view name : fields_) {
      const auto field = std::ranges::find(op.fields(), name, &Field::name);
      if (field == op.fields().end()) {
        record.emplace_back();
        continue;
      }
      const std::int64_t value = candidate.shape[static_cast<std::size_t>(field - op.fields().begin())];
      if (field->print != nullptr) {
        record.emplace_back(field->print(value));
      } else {
        record.emplace_back(value);
      }
    }
    record.emplace_back(candidate.likely.value());
    record.emplace_back(choice.cost.value());
    return record;
  }

 private:
  std::vector<std::string_view> fields_;
  std::vector<std::string> attributes_;
  std::vector<report::Column> columns_;
};

report::Report class_report(std::span<const PlanClass> classes, const Plan& plan) {
  using report::Unit;
  struct Share {
    std::int64_t shapes = 0;
    double seconds = 0.0;
  };
  std::vector<Share> shares(classes.size());
  for (const PlanChoice& choice : plan.choices) {
    ++shares[choice.of_class].shapes;
    shares[choice.of_class].seconds += choice.cost.value();
  }
  report::Report out;
  out.columns = {{"op", "op"},
                 {"attributes", "attributes"},
                 {"framework", "calibrated"},
                 {"measured", "measured"},
                 {"shapes", "to measure"},
                 {"seconds", "GPU time", Unit::seconds},
                 {"expected_error_before", "expected error", Unit::fraction},
                 {"expected_error_after", "afterwards", Unit::fraction}};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const ClassKey& key = classes[i].key;
    report::Object attributes;
    for (const auto& [name, value] : key.attributes) {
      attributes.columns.push_back({name, name});
      attributes.values.emplace_back(value);
    }
    out.records.push_back({key.op, std::make_shared<const report::Object>(std::move(attributes)),
                           key.framework.empty() ? report::Value() : report::Value(key.framework),
                           static_cast<std::int64_t>(classes[i].measured.size()), shares[i].shapes, shares[i].seconds,
                           plan.error_before[i], plan.error_after[i]});
  }
  out.list_key = "classes";
  return out;
}

// As CSV, whole or not at all.
Result<void> write_shapes(const std::string& file, std::span<const PlanClass> classes, const Plan& plan) {
  auto place = WholeFile::create(file);
  if (!place) return place.error();
  const ShapeRecords shapes(classes);
  std::ofstream out(place->unfinished(), std::ios::binary | std::ios::trunc);
  report::RecordStream stream(shapes.columns(), report::Format::csv, out);
  for (const PlanChoice& choice : plan.choices) stream.add(shapes.record(classes[choice.of_class], choice));
  out.close();
  if (!out) return Error{ErrorCode::io, fmt::format("cannot write {}", file)};
  return place->keep();
}

Result<int> plan(Session& session, const Options& options) {
  if (options.gpu.empty()) {
    return Error{ErrorCode::usage, "--gpu is required: a name such as h200_sxm (`roofcal gpu list` shows them)"};
  }
  if (!(options.minutes > 0.0) || options.minutes > kMostMinutes) {
    return Error{ErrorCode::usage,
                 fmt::format("--minutes: {:g} is not a time above 0 and up to a week", options.minutes)};
  }
  if (!options.op.empty() && find_operator(options.op) == nullptr) return unknown_op(options.op);
  const auto catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const auto gpu = gpu_named(**catalogue, "--gpu", options.gpu);
  if (!gpu) return gpu.error();
  auto calls = listed_calls(session, options, **catalogue, **gpu);
  if (!calls) return calls.error();
  const auto predictor = session.predictor();
  if (!predictor) return predictor.error();
  const auto library = session.library();
  if (!library) return library.error();
  const auto store = session.store();
  if (!store) return store.error();

  if (!options.models.empty()) {
    calls = calls_of_models(options, **predictor, **gpu);
    if (!calls) return calls.error();
  }
  PlanQuestion question{**gpu, options.op, framework_name(options.framework), *std::move(calls), options.seed};
  const auto what = plan_classes(**predictor, **library, *store, question);
  if (!what) return what.error();
  for (const std::string& warning : what->warnings) session.warn(warning);
  const double budget = options.minutes * kSecondsAMinute;
  Progress progress(session, "planning", static_cast<std::int64_t>(budget));
  const auto chosen = make_plan(what->classes, Seconds(budget), MeasurementCost{}, options.seed,
                                [&](Seconds planned) { progress.step(static_cast<std::int64_t>(planned.value())); });
  if (!chosen) return chosen.error();
  progress.clear();
  if (chosen->choices.empty()) session.warn("nothing to measure: all is measured, or nothing fits into the minutes");

  report::Report classes = class_report(what->classes, *chosen);
  const report::Object totals{
      {{"gpu", "gpu"}, {"budget_s", "budget", report::Unit::seconds}, {"cost_s", "cost", report::Unit::seconds}},
      {(*gpu)->name, budget, chosen->cost.value()}};
  if (!options.output.empty()) {
    const auto written = write_shapes(options.output, what->classes, *chosen);
    if (!written) return written.error();
    classes.envelope = totals;
    session.print(classes);
    return 0;
  }
  const ShapeRecords shapes(what->classes);
  report::Report out;
  out.columns = shapes.columns();
  for (const PlanChoice& choice : chosen->choices) {
    out.records.push_back(shapes.record(what->classes[choice.of_class], choice));
  }
  out.list_key = "shapes";
  out.envelope = totals;
  out.envelope.columns.push_back({"classes", "classes"});
  classes.list_key.clear();
  out.envelope.values.emplace_back(std::make_shared<const report::Report>(std::move(classes)));
  session.print(out);
  return 0;
}

}  // namespace

void add_plan(const Registry& registry) {
  CLI::App& verb = add_verb(
      registry, "plan", "which shapes to measure next: the most error removed a second of GPU time",
      "  roofcal plan --gpu h200_sxm --minutes 10 --output plan.csv && roofcal measure --plan plan.csv\n"
      "  roofcal plan --gpu h200_sxm --minutes 1 --op gemm --shapes shapes.csv\n"
      "Shapes come from what is calibrated for the GPU, else for others like it, from models, or from a file: `op`, "
      "the\n"
      "names of `predict rows` and, if wanted, `weight` as columns. Calibrations tell likely times; only what\n"
      "the store holds counts as measured. The most worthwhile shapes come first.");
  const auto options = std::make_shared<Options>();
  verb.add_option("--gpu", options->gpu, "the GPU to measure")->type_name("G");
  verb.add_option("--minutes", options->minutes, "GPU time to spend")->required()->type_name("M");
  verb.add_option("--op", options->op, "only this operator")->type_name("OP");
  verb.add_option("--framework", options->framework, "only what this framework runs")->type_name("F");
  CLI::Option* models =
      verb.add_option("--models", options->models, "the shapes that these models use, by their share of the time")
          ->type_name("A,B");
  verb.add_option("--shapes", options->shapes, "the shapes that matter, as CSV; default: the calibrated ranges")
      ->type_name("FILE")
      ->excludes(models);
  verb.add_option("--output", options->output, "write the shapes here, for `roofcal measure --plan`; print the classes")
      ->type_name("FILE");
  verb.add_option("--seed", options->seed, "of random choices; default 1")->type_name("S");
  Action& action = registry.action;
  verb.callback([options, &action] { action = [options](Session& session) { return plan(session, *options); }; });
}

}  // namespace roofcal::cli
