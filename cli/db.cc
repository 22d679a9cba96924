// `db`: the store itself.
#include <fmt/format.h>

#include <memory>

#include "cli/progress.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "db/export.h"

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

Result<int> export_to(Session& session, const std::string& file) {
  const auto store = session.existing_store();
  if (!store) return store.error();
  const auto figures = (*store)->info();
  if (!figures) return figures.error();
  Progress progress(session, "exporting", figures->samples);
  const auto written = export_samples(**store, {}, file, [&progress](std::int64_t samples) { progress.step(samples); });
  progress.clear();
  if (!written) return written.error();
  report::Report out;
  out.single = true;
  out.columns = {{"file", "file"}, {"samples", "samples"}};
  out.records.push_back({file, *written});
  session.print(out);
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
                                   "  roofcal db export samples.csv.gz\n`roofcal import` reads it back as it was.");
  const auto file = std::make_shared<std::string>();
  export_verb.add_option("FILE", *file, "CSV; gzip'd when the name ends in .gz")->required()->type_name("");
  export_verb.callback([&action, file] { action = [file](Session& session) { return export_to(session, *file); }; });
  add_later_db_verbs(below);
}

}  // namespace roofcal::cli
