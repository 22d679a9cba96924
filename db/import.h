// Reading other people's measurement files into the store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/sample.h"
#include "db/catalogue.h"
#include "db/store.h"

namespace roofcal {

struct Rejected {
  std::int64_t line = 0;
  std::string reason;
};

struct FileReport {
  std::string file;
  std::string source;  ///< format that read it: "aiconfigurator", "roofcal", ...
  std::int64_t rows = 0, stored = 0, already_there = 0, rejected = 0;
  std::vector<Rejected> reasons;  ///< the first 20 are kept
  std::vector<std::string> warnings;

  /// A warning as a line of its own, beginning with the file's name; what the table's reader says does already.
  [[nodiscard]] std::string line_of(const std::string& warning) const {
    return warning.starts_with(file + ":") ? warning : file + ": " + warning;
  }
};

struct ImportOptions {
  std::string gpu;  ///< wins over the file's device column
  std::string source = "auto";
  bool strict = false;  ///< fail on the first rejected row, storing nothing of that file
};

/// Reads a measurement file row by row without storing (validate uses it too). `visit` gets each good row with its
/// line.
[[nodiscard]] Result<FileReport> read_measurements(
    const std::filesystem::path& file, const GpuCatalogue& catalogue, const ImportOptions& options,
    const std::function<Result<void>(std::int64_t line, const StoredSample&)>& visit);

/// Files below a path that an importer recognises, sorted; a file itself is returned as it is.
[[nodiscard]] Result<std::vector<std::filesystem::path>> measurement_files(const std::filesystem::path& path);

/// Imports one file in one transaction: one run, or those that a file in roofcal's own format names. What the store
/// already has of the same source is not stored again. Where a file ends within a row, the rows before are kept.
/// Errors: nothing of the file is stored then.
[[nodiscard]] Result<FileReport> import_file(Store& store, const std::filesystem::path& file,
                                             const GpuCatalogue& catalogue, const ImportOptions& options);

}  // namespace roofcal
