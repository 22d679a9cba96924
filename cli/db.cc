// `db`: the store itself.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "cli/progress.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "db/export.h"
#include "db/merge.h"

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

Result<int> merge_from(Session& session, const std::vector<std::string>& others) {
  // All are opened first, so that a bad one is found before anything is written.
  std::vector<Store> sources;
  for (const std::string& other : others) {
    std::error_code failure;
    if (!std::filesystem::exists(other, failure)) {
      return Error{ErrorCode::io, fmt::format("there is no store at {}", other)};
    }
    if (std::filesystem::equivalent(other, session.store_path(), failure)) {
      return Error{ErrorCode::usage, fmt::format("{} is the store itself", other)};
    }
    auto opened = Store::open(other, Store::Access::read);
    if (!opened) return opened.error();
    sources.push_back(*std::move(opened));
  }
  const auto store = session.writable_store();
  if (!store) return store.error();

  report::Report out;
  out.columns = {{"file", "from"},     {"runs", "runs"},
                 {"stored", "stored"}, {"already_there", "already there"},
                 {"gpus", "GPUs"},     {"calibrations", "calibrations"}};
  out.list_key = "files";
  std::int64_t stored = 0;
  Progress progress(session, "merging", static_cast<std::int64_t>(sources.size()));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    progress.step(static_cast<std::int64_t>(i));
    const auto merged = merge(**store, sources[i]);
    if (!merged) return Error{merged.error().code, fmt::format("{}: {}", others[i], merged.error().message)};
    out.records.push_back(
        {others[i], merged->runs, merged->samples, merged->already_there, merged->gpus, merged->calibrations});
    stored += merged->samples;
  }
  progress.clear();
  out.envelope = {{{"stored", "stored"}}, {stored}};
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

  CLI::App& merge_verb = add_verb(below, "merge", "take over what other stores hold",
                                  "  roofcal db merge node1.db node2.db\n"
                                  "What is there already is not stored again, nor a GPU or a calibration replaced.");
  const auto others = std::make_shared<std::vector<std::string>>();
  merge_verb.add_option("OTHER", *others, "stores to take over")->required()->type_name("FILE");
  merge_verb.callback(
      [&action, others] { action = [others](Session& session) { return merge_from(session, *others); }; });

  add_db_diff(below);
}

}  // namespace roofcal::cli
