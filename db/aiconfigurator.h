// Operator tables of AIConfigurator (github.com/ai-dynamo/aiconfigurator): CSV, latency in ms, one row a measurement.
#pragma once

#include "db/import.h"
#include "db/table_file.h"

namespace roofcal {

/// Whether a header is one of these tables: it has a latency and the columns of an operator.
[[nodiscard]] bool is_aiconfigurator(const TableFile& table);

/// Reads every row; what is wrong with one goes to the report and the rest is kept (with options.strict: the first one
/// ends the reading). Errors: columns that no row can do without are missing.
[[nodiscard]] Result<void> read_aiconfigurator(
    TableFile& table, const GpuCatalogue& catalogue, const ImportOptions& options, FileReport& report,
    const std::function<Result<void>(std::int64_t line, const StoredSample&)>& visit);

}  // namespace roofcal
