// Cases made ready on a GPU, one kind a file.
#pragma once

#include <memory>

#include "microbench/gpu/gpu_context.h"

namespace roofcal::microbench {

/// "heuristic": its first choice. "exhaustive": the fastest of all that it offers (at most 256), each timed briefly.
[[nodiscard]] Result<std::unique_ptr<Subject>> prepare_gemm(GpuContext& gpu, const MeasurementCase& one,
                                                            const PrepareOptions& options);
[[nodiscard]] Result<std::unique_ptr<Subject>> prepare_memory(GpuContext& gpu, const MeasurementCase& one,
                                                              const PrepareOptions& options);
/// kernel_launch, graph_launch, host_dispatch.
[[nodiscard]] Result<std::unique_ptr<Subject>> prepare_launch(GpuContext& gpu, const MeasurementCase& one,
                                                              const PrepareOptions& options);
/// host_to_device, device_to_host: pinned memory.
[[nodiscard]] Result<std::unique_ptr<Subject>> prepare_transfer(GpuContext& gpu, const MeasurementCase& one,
                                                                const PrepareOptions& options);

/// The heuristic's first choice, described.
[[nodiscard]] Result<std::string> gemm_choice(GpuContext& gpu, const MeasurementCase& one);

}  // namespace roofcal::microbench
