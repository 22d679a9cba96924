// The kernels on a real GPU.
#pragma once

#include <memory>

#include "microbench/kernels/kernels.h"

namespace roofcal::microbench {

[[nodiscard]] std::unique_ptr<Kernels> cuda_kernels();

}  // namespace roofcal::microbench
