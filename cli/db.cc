// `db`: the store itself.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "cli/field_text.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/verbs.h"

namespace roofcal::cli {
namespace {

using report::Unit;

report::Value attributes_of(const ClassKey& key) {
  report::Object attributes;
  for (const auto& [name, value] : key.attributes) {
    attributes.columns.push_back({name, name});
    attributes.values.emplace_back(value);
  }
  return std::make_shared<const report::Object>(std::move(attributes));
}

Result<int> info(Session& session) {
  const auto store = session.existing_store();
  if (!store) return store.error();
  const auto figures = (*store)->info();
  if (!figures) return figures.error();
  const auto classes = (*store)->classes({});
  if (!classes) return classes.error();

  report::Report list;
  list.columns = {
      {"gpu", "gpu"},         {"op", "op"},         {"attributes", "attributes"}, {"framework", "framework"},
      {"version", "version"}, {"kernel", "kernel"}, {"cache", "cache"},           {"samples", "samples"}};
  for (const ClassSummary& summary : *classes) {
    const ClassKey& key = summary.key;
    list.records.push_back({key.gpu, key.op, attributes_of(key), key.framework, key.version, key.kernel,
                            std::string(to_string(key.cache)), summary.samples});
  }
  if (session.format() == report::Format::csv || session.format() == report::Format::md) {
    session.print(list);  // a class a line is what a flat table of this can be
    return 0;
  }
  report::Report out;
  out.single = true;
  out.columns = {{"store", "store"},
                 {"schema_version", "schema version"},
                 {"file_bytes", "size", Unit::bytes},
                 {"runs", "runs"},
                 {"samples", "samples"},
                 {"classes", "kernel classes"},
                 {"gpus", "GPUs added"},
                 {"calibrations", "calibrations"},
                 {"list", "kernel classes"}};
  out.records.push_back({session.store_path().string(), static_cast<std::int64_t>(figures->schema_version),
                         figures->file_bytes, figures->runs, figures->samples, figures->classes, figures->gpus,
                         figures->calibrations, std::make_shared<const report::Report>(std::move(list))});
  session.print(out);
  return 0;
}

Result<int> check(Session& session) {
  const auto store = session.existing_store();
  if (!store) return store.error();
  const auto findings = (*store)->check();
  if (!findings) return findings.error();
  report::Report out;
  out.single = true;
  out.columns = {{"store", "store"}, {"ok", "ok"}, {"findings", "findings"}};
  out.records.push_back({session.store_path().string(), findings->empty(), *findings});
  session.print(out);
  return findings->empty() ? 0 : 1;
}

// One operator's samples: columns that `predict rows` reads, then the measurement, then what else is known.
std::vector<report::Column> export_columns(const std::set<std::string>& operators) {
  std::vector<report::Column> columns{{"gpu", "gpu"}, {"op", "op"}};
  std::set<std::string> seen{"gpu", "op"};
  const auto add = [&](const std::string& key, const std::string& title, Unit unit = Unit::none) {
    if (seen.insert(key).second) columns.push_back({key, title, unit});
  };
  for (const std::string& name : operators) {
    const Operator* op = find_operator(name);
    if (op == nullptr) continue;
    for (const AttributeField& attribute : op->attributes())
      add(column_name(attribute.name), std::string(attribute.name));
    for (const Field& field : op->fields()) add(column_name(field.name), std::string(field.name));
  }
  for (const std::string key : {"framework", "version", "kernel", "cache"}) add(key, key);
  add("time_s", "time", Unit::seconds);
  add("count", "count");
  add("p10_s", "p10", Unit::seconds);
  add("p90_s", "p90", Unit::seconds);
  add("relative_error", "relative error", Unit::fraction);
  add("sm_clock_hz", "clock", Unit::hertz);
  add("power_w", "power", Unit::watts);
  add("power_limit_w", "power limit", Unit::watts);
  for (const std::string key : {"launch_mode", "layout", "epilogue", "batch_count", "data_fill", "algorithm", "flags",
                                "source", "origin", "started_utc"}) {
    add(key, key);
  }
  return columns;
}

template <class T>
report::Value known(const std::optional<T>& value) {
  return value ? report::Value(*value) : report::Value();
}

report::Value known(const std::string& value) { return value.empty() ? report::Value() : report::Value(value); }

std::map<std::string, report::Value> cells_of(const Run& run, const StoredSample& sample) {
  const ClassKey& key = sample.key;
  std::map<std::string, report::Value> cells{{"gpu", key.gpu},
                                             {"op", key.op},
                                             {"framework", known(key.framework)},
                                             {"version", known(key.version)},
                                             {"kernel", known(key.kernel)},
                                             {"cache", std::string(to_string(key.cache))},
                                             {"time_s", sample.time.value()},
                                             {"count", known(sample.count)},
                                             {"p10_s", known(sample.p10_s)},
                                             {"p90_s", known(sample.p90_s)},
                                             {"relative_error", known(sample.relative_error)},
                                             {"sm_clock_hz", known(sample.sm_clock_hz)},
                                             {"power_w", known(sample.power_w)},
                                             {"power_limit_w", known(sample.power_limit_w)},
                                             {"launch_mode", known(sample.launch_mode)},
                                             {"layout", known(sample.layout)},
                                             {"epilogue", known(sample.epilogue)},
                                             {"batch_count", known(sample.batch_count)},
                                             {"data_fill", known(sample.data_fill)},
                                             {"algorithm", known(sample.algorithm)},
                                             {"flags", known(sample.flags)},
                                             {"source", known(run.source)},
                                             {"origin", known(run.origin)},
                                             {"started_utc", known(run.started_utc)}};
  for (const auto& [name, value] : key.attributes) cells.insert_or_assign(column_name(name), value);
  if (const Operator* op = find_operator(key.op)) {
    for (std::size_t i = 0; i < op->fields().size(); ++i) {
      const Field& field = op->fields()[i];
      cells.insert_or_assign(column_name(field.name), field.print != nullptr
                                                          ? report::Value(field.print(sample.shape[i]))
                                                          : report::Value(sample.shape[i]));
    }
  }
  return cells;
}

// Written under a temporary name and renamed, so that a file of that name is always whole.
Result<int> export_to(Session& session, const std::string& file) {
  const auto store = session.existing_store();
  if (!store) return store.error();
  const auto classes = (*store)->classes({});
  if (!classes) return classes.error();
  std::set<std::string> operators;
  std::int64_t total = 0;
  for (const ClassSummary& summary : *classes) {
    operators.insert(summary.key.op);
    total += summary.samples;
  }
  const auto by_name = report::parse_format(std::filesystem::path(file).extension().string().erase(0, 1));
  const report::Format format = session.format(by_name.value_or(report::Format::csv));
  if (format != report::Format::csv && format != report::Format::jsonl) {
    return Error{ErrorCode::usage, "samples are exported as csv or jsonl"};
  }

  const std::string temporary = fmt::format("{}.{}.tmp", file, getpid());
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  if (!out) return Error{ErrorCode::io, fmt::format("cannot write {}", file)};
  report::Report block;
  block.columns = export_columns(operators);
  report::RecordStream stream(block.columns, format, out);
  Progress progress(session, "exporting", total);
  std::int64_t written = 0;
  const auto done = (*store)->for_each({}, [&](const Run& run, const StoredSample& sample) -> Result<void> {
    auto cells = cells_of(run, sample);
    report::Record record;
    for (const report::Column& column : block.columns) record.push_back(std::move(cells[column.key]));
    stream.add(record);
    progress.at(++written);
    return {};
  });
  out.close();
  std::error_code failure;
  if (done && out) std::filesystem::rename(temporary, file, failure);
  if (!done || !out || failure) {
    std::error_code ignored;  // what matters is the failure that led here
    std::filesystem::remove(temporary, ignored);
    return done ? Error{ErrorCode::io, fmt::format("cannot write {}", file)} : done.error();
  }
  progress.clear();
  report::Report told;
  told.single = true;
  told.columns = {{"file", "file"}, {"samples", "samples"}};
  told.records.push_back({file, written});
  report::write(told, report::parse_format(session.options().format).value_or(report::Format::table), session.out());
  return 0;
}

}  // namespace

void add_db(const Registry& registry) {
  CLI::App& db = add_verb(registry, "db", "the store", "  roofcal db info\n  roofcal db check");
  db.require_subcommand(1);
  const Registry below = registry.below(db);
  Action& action = registry.action;
  CLI::App& info_verb = add_verb(below, "info", "what the store holds", "  roofcal db info --db lab.db");
  info_verb.callback([&action] { action = [](Session& session) { return info(session); }; });
  CLI::App& check_verb = add_verb(below, "check", "whether every sample is as it was stored", "  roofcal db check");
  check_verb.callback([&action] { action = [](Session& session) { return check(session); }; });
  CLI::App& export_verb = add_verb(below, "export", "all samples as one file",
                                   "  roofcal db export samples.csv\n  roofcal db export samples.jsonl");
  const auto file = std::make_shared<std::string>();
  export_verb.add_option("FILE", *file, "csv, or jsonl by its ending or --format")->required()->type_name("");
  export_verb.callback([&action, file] { action = [file](Session& session) { return export_to(session, *file); }; });
  add_later_db_verbs(below);
}

}  // namespace roofcal::cli
