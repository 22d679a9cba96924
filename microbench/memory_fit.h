// Whether a case fits in a GPU's free memory.
#pragma once

#include <optional>
#include <string>

#include "core/units.h"
#include "microbench/cache_rotation.h"
#include "microbench/measurement_case.h"

namespace roofcal::microbench {

/// What a case allocates: its sets of operands, the workspace of its library, and what the L2 is flushed with.
[[nodiscard]] Bytes memory_needed(const MeasurementCase& one, const CacheRotation& rotation);

/// Why a case is skipped, in one line with both figures; nullopt when it fits. A twentieth of the free memory is left
/// to the driver.
[[nodiscard]] std::optional<std::string> reason_not_to_fit(const MeasurementCase& one, const CacheRotation& rotation,
                                                           Bytes free);

/// What cublasLt may use beside the operands: 32 MiB, which NVIDIA recommends for Hopper and later.
inline constexpr Bytes kGemmWorkspace{32.0 * 1024.0 * 1024.0};

}  // namespace roofcal::microbench
