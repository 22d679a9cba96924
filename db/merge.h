// Joining stores: of many nodes, of many days.
#pragma once

#include <cstdint>

#include "core/result.h"
#include "db/store.h"

namespace roofcal {

struct MergeOutcome {
  std::int64_t runs = 0;  ///< that brought something new
  std::int64_t samples = 0, already_there = 0;
  std::int64_t gpus = 0, calibrations = 0;
};

/// Brings what `from` holds and `into` does not: samples with their runs, GPUs under names that are free, calibrations
/// under keys that are free. A second merge brings nothing. Each of the three is one transaction or one row; a merge
/// that was cut short is completed by another.
[[nodiscard]] Result<MergeOutcome> merge(Store& into, const Store& from);

}  // namespace roofcal
