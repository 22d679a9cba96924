#include "db/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/aiconfigurator.h"
#include "db/table_file.h"

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
    if (it->is_regular_file() && looks_like_measurements(it->path())) files.push_back(it->path());
  }
  if (failure) return Error{ErrorCode::io, fmt::format("{}: {}", path.string(), failure.message())};
  std::ranges::sort(files);
  return files;
}

Result<FileReport> read_measurements(const fs::path& file, const GpuCatalogue& catalogue, const ImportOptions& options,
                                     const std::function<Result<void>(std::int64_t, const StoredSample&)>& visit) {
  auto table = TableFile::open(file);
  if (!table) return table.error();
  FileReport report;
  report.file = file.string();
  report.source = "aiconfigurator";
  if (!is_aiconfigurator(*table)) return Error{ErrorCode::bad_data, fmt::format("{}: not a table of measurements", file.string())};
  if (const auto read = read_aiconfigurator(*table, catalogue, options, report, visit); !read) return read.error();
  return report;
}

}  // namespace roofcal
