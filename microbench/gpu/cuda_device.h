// A GPU as microbench/device.h wants it.
#pragma once

#include <memory>
#include <string>

#include "microbench/device.h"
#include "microbench/gpu/gpu_context.h"

namespace roofcal::microbench {

/// Libraries that are opened at run time; empty names: the usual ones.
struct LibraryNames {
  std::string nvml;
  std::string cublaslt;
};

/// How many GPUs CUDA sees. Errors: no_gpu, in one line with CUDA's reason.
[[nodiscard]] Result<int> count_gpus(CudaApi& api);

/// `warnings` gets a line for each library that is missing. Errors: no_gpu for an index that is none; CUDA's.
[[nodiscard]] Result<std::unique_ptr<Device>> open_gpu(CudaApi& api, Kernels& kernels, int index,
                                                       const LibraryNames& libraries,
                                                       std::vector<std::string>& warnings);

}  // namespace roofcal::microbench
