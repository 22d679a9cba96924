// Operator tables of AIConfigurator (github.com/ai-dynamo/aiconfigurator): CSV, latency in ms, one row a measurement.
// The collector repeats a call on the same buffers: operands in L2 as far as they fit. It replays CUDA graphs (launch
// mode graph), but for kernels called "..._eager"; how NCCL's own benchmark launched is not said. A row of a library
// that is not the table's framework (NCCL) is of that library, in the version of the folder <library>/<version>/ if it
// lies in one, else of the version column.
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
