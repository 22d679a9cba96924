// What all subjects on one GPU share.
#pragma once

#include <memory>
#include <optional>

#include "microbench/device.h"
#include "microbench/gpu/cublaslt.h"
#include "microbench/gpu/cuda_resources.h"
#include "microbench/gpu/nvml.h"
#include "microbench/kernels/kernels.h"

namespace roofcal::microbench {

struct GpuContext {
  CudaApi& api;
  Kernels& kernels;
  const CublasLt* cublaslt = nullptr;  ///< null: could not be loaded; GEMMs are skipped
  GpuFacts facts;
  OwnedStream stream;
};

/// Copies from the device and waits for it.
[[nodiscard]] Result<void> download(GpuContext& gpu, void* to, const void* from, std::size_t bytes);

/// Element `index` of device data, decoded.
[[nodiscard]] Result<double> element(GpuContext& gpu, const void* data, NumberFormat format, std::uint64_t index);

/// `count` bfloat16 values from element `first` on.
[[nodiscard]] Result<std::vector<double>> bfloat16_row(GpuContext& gpu, const void* data, std::uint64_t first,
                                                       std::size_t count);

}  // namespace roofcal::microbench
