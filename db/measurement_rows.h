// Reading a table of measurements row by row, whatever its format: what all formats have in common.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "core/result.h"
#include "db/import.h"
#include "db/store.h"
#include "db/table_file.h"

namespace roofcal {

/// One format. Made for a file, whose header it has accepted.
class RowFormat {
 public:
  virtual ~RowFormat() = default;
  /// Reads the table's current row. The error is the reason to reject it; `missing_column` where other rows of the same
  /// operator cannot do better.
  [[nodiscard]] virtual Result<void> read(const TableFile& table, Run& run, StoredSample& sample) = 0;
  /// What a user should know about the rows read so far.
  [[nodiscard]] virtual std::vector<std::string> warnings() const { return {}; }
};

/// The GPU that --gpu named; empty when it was not given. Errors: a name that the catalogue does not know.
[[nodiscard]] Result<std::string> chosen_gpu(const GpuCatalogue& catalogue, const ImportOptions& options);
/// The reason to reject a row whose GPU the catalogue does not know.
[[nodiscard]] Error unknown_gpu(const GpuCatalogue& catalogue, std::string_view name);

/// Visits every good row with the run it belongs to. Rows identical in every column count once: the second one is
/// already there. Where the file ends within a row, the rows before are kept.
[[nodiscard]] Result<FileReport> read_measurement_rows(
    const std::filesystem::path& file, const GpuCatalogue& catalogue, const ImportOptions& options,
    const std::function<Result<void>(std::int64_t line, const Run&, const StoredSample&)>& visit);

}  // namespace roofcal
