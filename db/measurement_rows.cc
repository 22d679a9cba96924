#include "db/measurement_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "db/aiconfigurator.h"
#include "db/json_text.h"
#include "db/roofcal_table.h"
#include "db/sha256.h"

namespace roofcal {
namespace {

constexpr std::size_t kReasonsKept = 20;

Error bad(std::string message) { return Error{ErrorCode::bad_data, std::move(message)}; }

std::string did_you_mean(const GpuCatalogue& catalogue, std::string_view name) {
  const auto close = catalogue.suggestions(name);
  return close.empty() ? "" : fmt::format(" (did you mean {}?)", fmt::join(close, " or "));
}

Result<void> check_row(const TableFile& table) {
  const auto cells = table.cells();
  if (cells.size() != table.columns().size()) {
    return bad(fmt::format("{} cells where the header has {}", cells.size(), table.columns().size()));
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].find('\0') != std::string_view::npos)
      return bad(fmt::format("{} holds a NUL byte", table.columns()[i]));
    if (!is_utf8(cells[i])) return bad(fmt::format("{} is not UTF-8 text", table.columns()[i]));
  }
  return {};
}

// Of all cells. 64 bits: two different rows of a million are taken for one with a chance of 3 in 10^8.
std::uint64_t row_hash(std::span<const std::string_view> cells) {
  std::uint64_t hash = 0;
  for (const std::string_view cell : cells) {
    hash = (hash ^ std::hash<std::string_view>()(cell)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  }
  return hash;
}

struct Opened {
  std::string source;
  std::unique_ptr<RowFormat> format;
};

Result<Opened> open_format(const TableFile& table, const GpuCatalogue& catalogue, const ImportOptions& options) {
  const bool any = options.source == "auto";
  if (!any && options.source != kAiconfigurator && options.source != kRoofcal) {
    return Error{ErrorCode::usage, fmt::format("--source {}: this version reads {} and {} only", options.source,
                                               kAiconfigurator, kRoofcal)};
  }
  if (any ? is_roofcal_table(table) : options.source == kRoofcal) {
    auto format = open_roofcal_table(table, catalogue, options);
    if (!format) return format.error();
    return Opened{std::string(kRoofcal), *std::move(format)};
  }
  if (any && !is_aiconfigurator(table)) {
    return bad(
        fmt::format("{}: no table of measurements: column latency (AIConfigurator) or time_s (roofcal) is "
                    "missing; the header has {}",
                    table.file().string(), table.header_text()));
  }
  auto format = open_aiconfigurator(table, catalogue, options);
  if (!format) return format.error();
  return Opened{std::string(kAiconfigurator), *std::move(format)};
}

}  // namespace

Result<std::string> chosen_gpu(const GpuCatalogue& catalogue, const ImportOptions& options) {
  if (options.gpu.empty()) return std::string();
  const GpuSpec* gpu = catalogue.spec(options.gpu);
  if (gpu == nullptr) {
    return Error{ErrorCode::usage, fmt::format("--gpu '{}' is not in the catalogue{}: `roofcal gpu list` shows it, "
                                               "`roofcal gpu add` adds to it",
                                               options.gpu, did_you_mean(catalogue, options.gpu))};
  }
  return gpu->name;
}

Error unknown_gpu(const GpuCatalogue& catalogue, std::string_view name) {
  if (name.empty()) return bad("the row names no GPU: say which with --gpu");
  return bad(fmt::format("GPU '{}' is not in the catalogue{}: add it with `roofcal gpu add`, or say which with --gpu",
                         name, did_you_mean(catalogue, name)));
}

Result<FileReport> read_measurement_rows(
    const std::filesystem::path& file, const GpuCatalogue& catalogue, const ImportOptions& options,
    const std::function<Result<void>(std::int64_t, const Run&, const StoredSample&)>& visit) {
  auto table = TableFile::open(file);
  if (!table) return table.error();
  auto content = sha256_of_file(file);
  if (!content) return content.error();
  Run file_run;
  file_run.origin = file.string();
  file_run.content_hash = *std::move(content);
  auto opened = open_format(*table, catalogue, options);
  if (!opened) return opened.error();

  FileReport report;
  report.file = file.string();
  report.source = opened->source;
  const auto reject = [&](std::int64_t line, const std::string& reason) -> Result<void> {
    if (options.strict) return bad(fmt::format("{}:{}: {}", report.file, line, reason));
    ++report.rejected;
    if (report.reasons.size() < kReasonsKept) report.reasons.push_back({line, reason});
    return {};
  };
  std::unordered_set<std::uint64_t> seen;
  bool only_missing_columns = true;
  for (;;) {
    const auto next = table->next();
    if (!next) {
      if (next.error().code != ErrorCode::bad_data || options.strict) return next.error();
      report.warnings.push_back(next.error().message);
      ++report.rows;
      if (const auto rejected = reject(table->line(), "the file ends within this row"); !rejected)
        return rejected.error();
      only_missing_columns = false;
      break;
    }
    if (!*next) break;
    ++report.rows;
    Run run = file_run;
    StoredSample sample;
    auto read = check_row(*table);
    if (read) read = opened->format->read(*table, run, sample);
    if (!read) {
      only_missing_columns = only_missing_columns && read.error().code == ErrorCode::missing_column;
      if (const auto rejected = reject(table->line(), read.error().message); !rejected) return rejected.error();
      continue;
    }
    only_missing_columns = false;
    if (!seen.insert(row_hash(table->cells())).second) {
      ++report.already_there;
      continue;
    }
    if (const auto visited = visit(table->line(), run, sample); !visited) return visited.error();
  }
  if (only_missing_columns && report.rejected > 0) {
    return bad(
        fmt::format("{}: {}; the header has {}", report.file, report.reasons.front().reason, table->header_text()));
  }
  std::ranges::move(opened->format->warnings(), std::back_inserter(report.warnings));
  if (report.rows == 0) report.warnings.emplace_back("holds no rows below its header");
  return report;
}

}  // namespace roofcal
