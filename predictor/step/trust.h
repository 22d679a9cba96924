// Kernels whose measured times are not what a running model sees.
#pragma once

#include <cstdint>
#include <string>

#include "predictor/predictor.h"
#include "predictor/step/lower.h"

namespace roofcal {

/// Why the times of a kernel are not to be summed into a step where another framework's are at hand; empty when there
/// is no reason. Two are known: the host set the pace while it was timed; and TensorRT-LLM's public table of grouped
/// decode attention on Blackwell, which runs several times over its bound (docs/models.md).
[[nodiscard]] std::string distrust(const LoweredOperator& lowered, const Resolution& resolution, std::uint16_t kernel);

/// Whether that holds for any kernel of these.
[[nodiscard]] bool distrusted(const LoweredOperator& lowered, const Resolution& resolution);

}  // namespace roofcal
