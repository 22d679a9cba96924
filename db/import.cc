#include "db/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/measurement_rows.h"

namespace roofcal {
namespace {

namespace fs = std::filesystem;

bool looks_like_measurements(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".csv") || name.ends_with(".csv.gz");
}

}  // namespace

Result<std::vector<fs::path>> measurement_files(const fs::path& path) {
  std::error_code failure;
  if (!fs::exists(path, failure)) return Error{ErrorCode::io, fmt::format("{}: no such file or folder", path.string())};
  if (!fs::is_directory(path, failure)) return std::vector<fs::path>{path};
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(path, failure), end; !failure && it != end; it.increment(failure)) {
    std::error_code unknown;  // a link to nowhere is no file
    if (it->is_regular_file(unknown) && looks_like_measurements(it->path())) files.push_back(it->path());
  }
  if (failure) return Error{ErrorCode::io, fmt::format("{}: {}", path.string(), failure.message())};
  std::ranges::sort(files);
  return files;
}

Result<FileReport> read_measurements(const fs::path& file, const GpuCatalogue& catalogue, const ImportOptions& options,
                                     const std::function<Result<void>(std::int64_t, const StoredSample&)>& visit) {
  return read_measurement_rows(
      file, catalogue, options,
      [&](std::int64_t line, const Run& /*run*/, const StoredSample& sample) { return visit(line, sample); });
}

Result<FileReport> import_file(Store& store, const fs::path& file, const GpuCatalogue& catalogue,
                               const ImportOptions& options) {
  FileReport report;
  const auto outcome = store.add_runs([&](const Store::RunSampleSink& sink) -> Result<void> {
    auto read = read_measurement_rows(
        file, catalogue, options, [&](std::int64_t line, const Run& run, const StoredSample& sample) -> Result<void> {
          auto stored = sink(run, sample);
          if (!stored)
            return Error{stored.error().code, fmt::format("{}:{}: {}", file.string(), line, stored.error().message)};
          return {};
        });
    if (!read) return read.error();
    report = *std::move(read);
    return {};
  });
  if (!outcome) return outcome.error();
  report.stored = outcome->stored;
  report.already_there += outcome->already_there;
  return report;
}

}  // namespace roofcal
