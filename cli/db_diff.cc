// `db diff`: what two stores measured differently.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/featurizer.h"
#include "cli/field_text.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "core/lower_case.h"
#include "db/store.h"
#include "predictor/diff/change.h"
#include "predictor/diff/class_pairs.h"
#include "report/text.h"

namespace roofcal::cli {
namespace {

using report::Audience;
using report::Record;
using report::Report;
using report::Unit;
using report::Value;

struct DiffOptions {
  std::string before, after;
  std::string gpu, op, framework;
  double margin_percent = 1.0;
  std::size_t worst = 5;
  bool sizes = false;
  bool shapes = false;
};

// One compared pair with what its shapes are made of.
struct Compared {
  ClassPair pair;
  ClassChange change;
  const Operator* op = nullptr;
  std::size_t size_field = 0;

  [[nodiscard]] const ClassKey& before() const { return pair.before.front(); }
  [[nodiscard]] const ClassKey& after() const { return pair.after.front(); }
};

using Classes = std::map<ClassKey, std::vector<Sample>>;

Result<Classes> read_store(const std::string& file, const ClassFilter& filter) {
  std::error_code failure;
  if (!std::filesystem::exists(file, failure)) {
    return Error{ErrorCode::io, fmt::format("there is no store at {}", file)};
  }
  const auto store = Store::open(file, Store::Access::read);
  if (!store) return store.error();
  Classes classes;
  const auto read = store->for_each(filter, [&](const Run& /*run*/, const StoredSample& sample) {
    const bool fit_worthy =
        sample.flags.find("failed") == std::string::npos && sample.flags.find("throttled") == std::string::npos;
    if (sample.kind == kOperatorSample && fit_worthy) classes[sample.key].push_back({sample.shape, sample.time});
    return Result<void>{};
  });
  if (!read) return Error{read.error().code, fmt::format("{}: {}", file, read.error().message)};
  return classes;
}

std::vector<ClassKey> keys_of(const Classes& classes) {
  std::vector<ClassKey> keys;
  for (const auto& entry : classes) keys.push_back(entry.first);
  return keys;
}

KernelSamples samples_of(const Classes& classes, const std::vector<ClassKey>& keys) {
  KernelSamples samples;
  for (const ClassKey& key : keys) samples.push_back(classes.at(key));
  return samples;
}

std::string kernels_of(const std::vector<ClassKey>& keys) {
  std::vector<std::string> names;
  for (const ClassKey& key : keys) names.push_back(key.kernel);
  return fmt::format("{}", fmt::join(names, "|"));
}

// What tells the sides apart: "trtllm 1.3.0rc10 torch_flow".
std::string side_of(const std::vector<ClassKey>& keys) {
  const ClassKey& key = keys.front();
  return fmt::format("{} {} {}", key.framework, key.version,
                     keys.size() == 1 ? key.kernel : fmt::format("{} kernels", keys.size()));
}

std::string kind_of(const ClassKey& key) {
  std::string out;
  for (const auto& [name, value] : key.attributes) out += (out.empty() ? "" : " ") + value;
  return out + (key.cache == CacheMode::cold ? " cold" : "");
}

std::string shape_text(const Operator& op, const Shape& shape) {
  std::string out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Field& field = op.fields()[i];
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", column_name(field.name), print_field(field, shape[i]));
  }
  return out;
}

Value optional_value(const std::optional<double>& value) { return value ? Value(*value) : Value(); }

std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:+.1f} %", 100.0 * *value) : "-";
}

std::string interval_text(const Change& change) {
  return change.lo ? fmt::format("{} .. {}", percent(change.lo), percent(change.hi)) : "-";
}

std::string size_text(const Field& field, std::int64_t value) {
  return is_size(field) ? report::scaled(static_cast<double>(value), Unit::bytes) : print_field(field, value);
}

// "slower 1 .. 16, same 32 .. 4096": neighbours of one verdict together; nothing where all agree with the whole.
std::string along_sizes(const Compared& one) {
  const auto& sizes = one.change.sizes;
  const bool all_alike = std::ranges::all_of(
      sizes, [&](const SizeChange& bin) { return bin.change.verdict == one.change.overall.verdict; });
  if (all_alike) return "";
  const Field& field = one.op->fields()[one.size_field];
  std::string out;
  for (std::size_t begin = 0; begin < sizes.size();) {
    std::size_t end = begin + 1;
    while (end < sizes.size() && sizes[end].change.verdict == sizes[begin].change.verdict) ++end;
    out += fmt::format("{}{} {} .. {}", out.empty() ? "" : ", ", to_string(sizes[begin].change.verdict),
                       size_text(field, sizes[begin].from), size_text(field, sizes[end - 1].to));
    begin = end;
  }
  return out;
}

std::vector<report::Column> class_columns() {
  return {{"op", "op"},
          {"gpu", "gpu"},
          {"kind", "kind"},
          {"before", "before", Unit::none, Audience::people},
          {"after", "after", Unit::none, Audience::people},
          {"framework_before", "", Unit::none, Audience::programs},
          {"version_before", "", Unit::none, Audience::programs},
          {"kernel_before", "", Unit::none, Audience::programs},
          {"framework_after", "", Unit::none, Audience::programs},
          {"version_after", "", Unit::none, Audience::programs},
          {"kernel_after", "", Unit::none, Audience::programs}};
}

Record class_cells(const Compared& one) {
  const ClassKey& a = one.before();
  const ClassKey& b = one.after();
  return {a.op,
          a.gpu,
          kind_of(a),
          side_of(one.pair.before),
          side_of(one.pair.after),
          a.framework,
          a.version,
          kernels_of(one.pair.before),
          b.framework,
          b.version,
          kernels_of(one.pair.after)};
}

void add_change_columns(std::vector<report::Column>& columns) {
  columns.insert(columns.end(), {{"shapes", "shapes"},
                                 {"change", "", Unit::none, Audience::programs},
                                 {"lo", "", Unit::none, Audience::programs},
                                 {"hi", "", Unit::none, Audience::programs},
                                 {"apart", "", Unit::none, Audience::programs},
                                 {"change_text", "change", Unit::none, Audience::people},
                                 {"interval", "90 % interval", Unit::none, Audience::people},
                                 {"verdict", "verdict"}});
}

void add_change_cells(Record& record, const Change& change) {
  const Record cells{static_cast<std::int64_t>(change.shapes),
                     optional_value(change.median),
                     optional_value(change.lo),
                     optional_value(change.hi),
                     optional_value(change.apart),
                     percent(change.median),
                     interval_text(change),
                     std::string(to_string(change.verdict))};
  record.insert(record.end(), cells.begin(), cells.end());
}

std::shared_ptr<const Report> sizes_report(const Compared& one) {
  const std::string field = column_name(one.op->fields()[one.size_field].name);
  Report out;
  out.columns = {{field + "_from", field + " from"}, {field + "_to", "to"}};
  add_change_columns(out.columns);
  for (const SizeChange& bin : one.change.sizes) {
    Record record{bin.from, bin.to};
    add_change_cells(record, bin.change);
    out.records.push_back(std::move(record));
  }
  return std::make_shared<const Report>(std::move(out));
}

std::shared_ptr<const Report> worst_report(const Compared& one, std::size_t count) {
  Report out;
  for (const Field& field : one.op->fields()) out.columns.push_back({column_name(field.name), column_name(field.name)});
  out.columns.insert(
      out.columns.end(),
      {{"before_s", "before", Unit::seconds}, {"after_s", "after", Unit::seconds}, {"change", "change"}});
  for (std::size_t i = 0; i < std::min(count, one.change.shapes.size()); ++i) {
    const ShapeChange& shape = one.change.shapes[i];
    Record record;
    for (std::size_t f = 0; f < shape.shape.size(); ++f) {
      const Field& field = one.op->fields()[f];
      record.push_back(field.print != nullptr ? Value(field.print(shape.shape[f])) : Value(shape.shape[f]));
    }
    record.insert(record.end(), {shape.before.value(), shape.after.value(), shape.change()});
    out.records.push_back(std::move(record));
  }
  return std::make_shared<const Report>(std::move(out));
}

// A line a class, that which became slowest first.
Report classes_report(const std::vector<Compared>& compared, const DiffOptions& options) {
  Report out;
  out.list_key = "classes";
  out.columns = class_columns();
  add_change_columns(out.columns);
  out.columns.insert(out.columns.end(), {{"by_size", "along the sizes", Unit::none, Audience::people},
                                         {"worst_text", "worst shape", Unit::none, Audience::people},
                                         {"run_spread", "", Unit::none, Audience::programs},
                                         {"only_before", "", Unit::none, Audience::programs},
                                         {"only_after", "", Unit::none, Audience::programs},
                                         {"sizes", ""},
                                         {"worst", ""}});
  std::map<Verdict, std::int64_t> counts;
  for (const Compared& one : compared) {
    ++counts[one.change.overall.verdict];
    Record record = class_cells(one);
    add_change_cells(record, one.change.overall);
    const auto& shapes = one.change.shapes;
    record.insert(
        record.end(),
        {along_sizes(one),
         shapes.empty() ? std::string()
                        : fmt::format("{:+.1f} % at {}", 100.0 * shapes.front().change(),
                                      shape_text(*one.op, shapes.front().shape)),
         optional_value(one.change.run_spread), static_cast<std::int64_t>(one.change.only_before),
         static_cast<std::int64_t>(one.change.only_after), sizes_report(one), worst_report(one, options.worst)});
    out.records.push_back(std::move(record));
  }
  for (const Verdict verdict : {Verdict::slower, Verdict::faster, Verdict::same, Verdict::undecided}) {
    out.envelope.columns.push_back({std::string(to_string(verdict)), std::string(to_string(verdict))});
    out.envelope.values.emplace_back(counts[verdict]);
  }
  return out;
}

// A line a class and range of sizes.
Report all_sizes(const std::vector<Compared>& compared) {
  Report out;
  out.columns = class_columns();
  out.columns.insert(out.columns.end(), {{"size", "size"}, {"from", "from"}, {"to", "to"}});
  add_change_columns(out.columns);
  for (const Compared& one : compared) {
    const Field& field = one.op->fields()[one.size_field];
    for (const SizeChange& bin : one.change.sizes) {
      Record record = class_cells(one);
      record.insert(record.end(), {column_name(field.name), bin.from, bin.to});
      add_change_cells(record, bin.change);
      out.records.push_back(std::move(record));
    }
  }
  return out;
}

// A line a shape, the worst of all classes first.
Report all_shapes(const std::vector<Compared>& compared) {
  std::vector<std::pair<const Compared*, const ShapeChange*>> rows;
  for (const Compared& one : compared) {
    for (const ShapeChange& shape : one.change.shapes) rows.emplace_back(&one, &shape);
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const auto& row) { return row.second->change(); });
  Report out;
  out.columns = class_columns();
  out.columns.insert(out.columns.end(), {{"shape", "shape"},
                                         {"before_s", "time before", Unit::seconds},
                                         {"after_s", "time after", Unit::seconds},
                                         {"change", "", Unit::none, Audience::programs},
                                         {"change_text", "change", Unit::none, Audience::people}});
  for (const auto& [one, shape] : rows) {
    Record record = class_cells(*one);
    record.insert(record.end(), {shape_text(*one->op, shape->shape), shape->before.value(), shape->after.value(),
                                 shape->change(), percent(shape->change())});
    out.records.push_back(std::move(record));
  }
  return out;
}

void tell_what_is_left(Session& session, const std::string& file, const std::vector<ClassKey>& keys) {
  if (keys.empty()) return;
  session.warn(fmt::format("{} has {} kernel class{} without a counterpart: {}{}", file, keys.size(),
                           keys.size() == 1 ? "" : "es", describe(keys.front()), keys.size() == 1 ? "" : ", ..."));
}

Result<int> diff(Session& session, const DiffOptions& options) {
  if (!(options.margin_percent >= 0.0 && options.margin_percent < 100.0)) {
    return Error{ErrorCode::usage,
                 fmt::format("--margin {} is no share in per cent below 100", options.margin_percent)};
  }
  const auto catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  ClassFilter filter;
  filter.op = options.op;
  filter.framework = lower_case(options.framework);
  if (!options.op.empty() && find_operator(options.op) == nullptr) {
    return Error{ErrorCode::usage,
                 fmt::format("operator '{}' is not known: `roofcal db info` lists those of a store", options.op)};
  }
  if (!options.gpu.empty()) {
    const GpuSpec* gpu = (*catalogue)->spec(options.gpu);
    if (gpu == nullptr) {
      return Error{ErrorCode::usage,
                   fmt::format("GPU '{}' is not in the catalogue; `roofcal gpu list` shows it", options.gpu)};
    }
    filter.gpu = gpu->name;
  }
  const auto before = read_store(options.before, filter);
  if (!before) return before.error();
  const auto after = read_store(options.after, filter);
  if (!after) return after.error();

  const ClassPairs paired = pair_classes(keys_of(*before), keys_of(*after));
  std::vector<Compared> compared;
  for (const ClassPair& pair : paired.pairs) {
    Compared one;
    one.pair = pair;
    one.op = find_operator(one.before().op);
    const GpuSpec* gpu = (*catalogue)->spec(one.before().gpu);
    const auto featurizer = gpu == nullptr ? nullptr : make_featurizer(*one.op, *gpu, one.before().attributes);
    one.size_field = featurizer == nullptr ? 0 : featurizer->hints().size_field;
    one.change = class_change(samples_of(*before, pair.before), samples_of(*after, pair.after), one.size_field,
                              0.01 * options.margin_percent);
    compared.push_back(std::move(one));
  }
  if (std::ranges::none_of(compared, [](const Compared& one) { return one.change.overall.shapes > 0; })) {
    return Error{
        ErrorCode::not_calibrated,
        fmt::format(
            "{} and {} have no measured shape in common{}: `roofcal db info` shows what each holds", options.before,
            options.after,
            options.gpu.empty() && options.op.empty() && options.framework.empty() ? "" : " that was asked for")};
  }
  tell_what_is_left(session, options.before, paired.only_before);
  tell_what_is_left(session, options.after, paired.only_after);
  std::ranges::stable_sort(compared, std::ranges::greater{},
                           [](const Compared& one) { return one.change.overall.median.value_or(-1.0); });
  session.print(options.shapes  ? all_shapes(compared)
                : options.sizes ? all_sizes(compared)
                                : classes_report(compared, options));
  return 0;
}

}  // namespace

void add_db_diff(const Registry& db) {
  CLI::App& verb =
      add_verb(db, "diff", "what two stores measured differently",
               "  roofcal db diff before.db after.db\n"
               "  roofcal db diff nccl_2.27.db nccl_2.29.db --sizes\n"
               "A class stands beside the same class, else beside another version, kernel or framework of it.");
  const auto options = std::make_shared<DiffOptions>();
  verb.add_option("A", options->before, "the store before")->required()->type_name("");
  verb.add_option("B", options->after, "the store after")->required()->type_name("");
  verb.add_option("--gpu", options->gpu, "one GPU; default all")->type_name("G");
  verb.add_option("--op", options->op, "one operator; default all")->type_name("OP");
  verb.add_option("--framework", options->framework, "one framework; default all")->type_name("F");
  verb.add_option("--margin", options->margin_percent, "per cent below which times are called the same; default 1")
      ->type_name("P");
  verb.add_option("--worst", options->worst, "shapes of each class in json, worst first; default 5")->type_name("N");
  CLI::Option* sizes = verb.add_flag("--sizes", options->sizes, "a line a class and range of sizes");
  verb.add_flag("--shapes", options->shapes, "a line a shape, worst first")->excludes(sizes);
  Action& action = db.action;
  verb.callback([&action, options] { action = [options](Session& session) { return diff(session, *options); }; });
}

}  // namespace roofcal::cli
