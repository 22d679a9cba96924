// roofcal's own table: every field of a sample and of its run under its own name, a row a sample. What db/export.h
// writes and import reads back. Times in seconds.
//
// Columns: those of kRoofcalColumns, and the fields and attributes of each operator under the names that `predict rows`
// reads ('_' for '-'). An empty cell is a field that is not known, and so is a column that is missing; needed are op,
// gpu, time_s and what the operator needs. Lists (raw_s) are joined by ';', names with values are JSON objects, points
// in time are UTC ("2026-12-01T14:00:00Z").
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "db/measurement_rows.h"

namespace roofcal {

inline constexpr std::string_view kRoofcal = "roofcal";

inline constexpr std::array<std::string_view, 37> kRoofcalColumns{
    "kind",         "op",      "gpu",          "framework",      "version",   "kernel",      "cache",   "time_s",
    "count",        "p10_s",   "p90_s",        "relative_error", "raw_s",     "sm_clock_hz", "power_w", "power_limit_w",
    "launch_mode",  "layout",  "epilogue",     "batch_count",    "data_fill", "algorithm",   "flags",   "metrics",
    "nodes",        "device",  "measured_utc", "extra",          "sizes",     "attributes",  "source",  "origin",
    "content_hash", "run_gpu", "started_utc",  "ended_utc",      "run_extra"};

/// A field's or attribute's column: '_' for '-'.
[[nodiscard]] std::string table_column(std::string_view name);

/// Whether a header is such a table.
[[nodiscard]] bool is_roofcal_table(const TableFile& table);

/// Errors: a column is missing that no row can do without.
[[nodiscard]] Result<std::unique_ptr<RowFormat>> open_roofcal_table(const TableFile& table,
                                                                    const GpuCatalogue& catalogue,
                                                                    const ImportOptions& options);

}  // namespace roofcal
