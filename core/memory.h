// Kernels that only move data: norms, activations, rotary embedding, residual adds, embedding look-ups, cache copies.
#pragma once

#include "core/operator.h"

namespace roofcal {

/// No FLOPs that matter; the bytes are those that the kernel has to read and to write, each once.
[[nodiscard]] const Operator& memory_operator();

}  // namespace roofcal
