// Kernels whose measured times are not what a running model sees.
#pragma once

#include <cstdint>
#include <string>

#include "predictor/predictor.h"
#include "predictor/step/lower.h"

namespace roofcal {

/// Why the times of a kernel are not to be summed into a step where another framework's are at hand; empty when there
/// is no reason. Two are known: the host set the pace while it was timed; and TensorRT-LLM's public table of grouped
/// decode attention on Blackwell, which runs several times over its bound: steps with it are 1.5 to 2.7 times as long
/// as the published serving runs of Llama 3.1 70B on B200 were, with vLLM's attention 0.7 to 1.2 times
/// (docs/models.md).
[[nodiscard]] std::string distrust(const LoweredOperator& lowered, const Resolution& resolution, std::uint16_t kernel);

/// Whether that holds for any kernel of these.
[[nodiscard]] bool distrusted(const LoweredOperator& lowered, const Resolution& resolution);

}  // namespace roofcal
