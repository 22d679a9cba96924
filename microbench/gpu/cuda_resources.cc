#include "microbench/gpu/cuda_resources.h"

#include <fmt/format.h>

namespace roofcal::microbench {

Result<void> checked(CudaApi& api, int status, const char* call) {
  if (status == 0) return {};
  return Error{ErrorCode::io, fmt::format("{}: {}", call, api.error_text(status))};
}

Result<DeviceMemory> allocate_device(CudaApi& api, std::size_t bytes) {
  void* pointer = nullptr;
  const auto done = checked(api, api.allocate(&pointer, bytes), "cudaMalloc");
  if (!done) return done.error();
  return DeviceMemory(&api, pointer);
}

Result<PinnedMemory> allocate_pinned(CudaApi& api, std::size_t bytes) {
  void* pointer = nullptr;
  const auto done = checked(api, api.allocate_pinned(&pointer, bytes), "cudaMallocHost");
  if (!done) return done.error();
  return PinnedMemory(&api, pointer);
}

Result<OwnedStream> create_stream(CudaApi& api) {
  CudaStream stream = nullptr;
  const auto done = checked(api, api.create_stream(&stream), "cudaStreamCreateWithFlags");
  if (!done) return done.error();
  return OwnedStream(&api, stream);
}

Result<OwnedEvent> create_event(CudaApi& api) {
  CudaEvent event = nullptr;
  const auto done = checked(api, api.create_event(&event), "cudaEventCreate");
  if (!done) return done.error();
  return OwnedEvent(&api, event);
}

}  // namespace roofcal::microbench
