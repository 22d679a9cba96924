// GEMM: C[m x n] = A[m x k] B[n x k]^T, bias-free, as linear layers call it.
#pragma once

#include "core/operator.h"

namespace roofcal {

/// F = 2 m n k; bytes = m k activations + n k weights + 2 m n outputs (2-byte outputs).
[[nodiscard]] const Operator& gemm_operator();

}  // namespace roofcal
