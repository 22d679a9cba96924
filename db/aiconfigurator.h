// Operator tables of AIConfigurator (github.com/ai-dynamo/aiconfigurator): CSV, latency in ms, one row a measurement.
// The collector replays CUDA graphs on the same buffers: launch mode graph, operands in L2 as far as they fit.
#pragma once

#include <memory>

#include "db/measurement_rows.h"

namespace roofcal {

inline constexpr std::string_view kAiconfigurator = "aiconfigurator";

/// Whether a header is one of these tables.
[[nodiscard]] bool is_aiconfigurator(const TableFile& table);

/// Errors: a column is missing that no row can do without.
[[nodiscard]] Result<std::unique_ptr<RowFormat>> open_aiconfigurator(const TableFile& table,
                                                                     const GpuCatalogue& catalogue,
                                                                     const ImportOptions& options);

}  // namespace roofcal
