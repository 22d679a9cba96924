// `import`: other people's measurement files into the store.
#include "db/import.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>

#include "cli/progress.h"
#include "cli/session.h"
#include "cli/verbs.h"

namespace roofcal::cli {
namespace {

constexpr std::array<std::string_view, 13> kSources{
    "auto", "aiconfigurator", "nccl-tests",   "gbench",     "nvbench", "vidur",  "kineto",
    "vllm", "sglang",         "trtllm-bench", "inferencex", "trace",   "roofcal"};

struct Options {
  std::vector<std::string> paths;
  ImportOptions import;
};

// A file that could not be read, as one without rows and with a reason for that.
FileReport unread(const std::filesystem::path& file, const Error& error) {
  FileReport report;
  report.file = file.string();
  report.reasons.push_back({0, error.message});
  return report;
}

report::Report import_report(std::span<const FileReport> files) {
  report::Report reasons;
  reasons.columns = {{"line", "line"}, {"reason", "reason"}};
  report::Report out;
  out.columns = {{"file", "file"},
                 {"source", "source"},
                 {"rows", "rows"},
                 {"stored", "stored"},
                 {"already_there", "already there"},
                 {"rejected", "rejected"},
                 {"reasons", "reasons", report::Unit::none, report::Audience::programs},
                 {"warnings", "warnings", report::Unit::none, report::Audience::programs}};
  FileReport sum;
  for (const FileReport& file : files) {
    report::Report list = reasons;
    for (const Rejected& rejected : file.reasons) {
      // Of the whole file: no line.
      const report::Value line = rejected.line > 0 ? report::Value(rejected.line) : report::Value();
      list.records.push_back({line, rejected.reason});
    }
    out.records.push_back({file.file, file.source.empty() ? report::Value() : report::Value(file.source), file.rows,
                           file.stored, file.already_there, file.rejected,
                           std::make_shared<const report::Report>(std::move(list)), file.warnings});
    sum.rows += file.rows;
    sum.stored += file.stored;
    sum.already_there += file.already_there;
    sum.rejected += file.rejected;
  }
  if (files.size() > 1) {
    out.footer = report::Record{"total", {}, sum.rows, sum.stored, sum.already_there, sum.rejected, {}, {}};
  }
  out.list_key = "files";
  out.envelope = {{{"stored", "stored"}, {"rejected", "rejected"}}, {sum.stored, sum.rejected}};
  return out;
}

void tell(Session& session, const FileReport& file) {
  for (const std::string& warning : file.warnings) session.warn(file.line_of(warning));
  for (const Rejected& rejected : file.reasons) {
    session.warn(fmt::format("{}:{}: rejected: {}", file.file, rejected.line, rejected.reason));
  }
  const auto told = static_cast<std::int64_t>(file.reasons.size());
  if (file.rejected > told) session.warn(fmt::format("{}: {} more rows rejected", file.file, file.rejected - told));
}

Result<int> import(Session& session, const Options& options) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : options.paths) {
    const auto found = measurement_files(path);
    if (!found) return found.error();
    if (found->empty()) {
      return Error{ErrorCode::bad_data, fmt::format("{} holds no file that an importer knows", path)};
    }
    files.insert(files.end(), found->begin(), found->end());
  }
  const auto store = session.writable_store();
  if (!store) return store.error();
  const auto catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  ImportOptions import = options.import;
  import.strict = session.options().strict;

  std::vector<FileReport> reports;
  int status = 0;
  Progress progress(session, "importing", static_cast<std::int64_t>(files.size()));
  for (std::size_t i = 0; i < files.size(); ++i) {
    progress.step(static_cast<std::int64_t>(i));
    auto imported = import_file(**store, files[i], **catalogue, import);
    progress.clear();
    if (imported) {
      tell(session, *imported);
      reports.push_back(*std::move(imported));
      continue;
    }
    // One bad file does not stop the others, unless asked to; nothing of it was stored. Programs hear of it in the
    // result too; for people a lone line is enough.
    const bool lone = files.size() == 1 && session.format() == report::Format::table;
    if (lone || imported.error().code == ErrorCode::usage) return imported.error();
    session.err() << "roofcal: " << imported.error().message << '\n';
    status = exit_status(imported.error().code);
    reports.push_back(unread(files[i], imported.error()));
    if (import.strict) break;
  }
  session.print(import_report(reports));
  return status;
}

}  // namespace

void add_import(const Registry& registry) {
  CLI::App& verb =
      add_verb(registry, "import", "measurement files into the store",
               "  roofcal import gemm_perf.csv.gz\n"
               "  roofcal import measurements/ --gpu h200_sxm\n"
               "A file that was imported before stores nothing. Bad rows are rejected with line and reason, the\n"
               "rest is kept; with --strict the first bad row fails, and nothing of its file is stored.");
  const auto options = std::make_shared<Options>();
  verb.add_option("FILE", options->paths, "files, or folders to look through")->required()->type_name("FILE|DIR");
  verb.add_option("--gpu", options->import.gpu, "the GPU measured; wins over a file's own word")->type_name("NAME");
  verb.add_option("--source", options->import.source, fmt::format("{}; default auto", fmt::join(kSources, ", ")))
      ->type_name("S")
      ->check(one_of(kSources));
  Action& action = registry.action;
  verb.callback([options, &action] { action = [options](Session& session) { return import(session, *options); }; });
}

}  // namespace roofcal::cli
