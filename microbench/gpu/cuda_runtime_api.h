// The CUDA runtime itself.
#pragma once

#include <memory>

#include "microbench/gpu/cuda_api.h"

namespace roofcal::microbench {

[[nodiscard]] std::unique_ptr<CudaApi> cuda_runtime_api();

}  // namespace roofcal::microbench
