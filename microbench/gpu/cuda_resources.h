// What CUDA hands out and wants back: each is released by its owner, also where a later call fails.
#pragma once

#include <utility>

#include "microbench/gpu/cuda_api.h"

namespace roofcal::microbench {

/// Owner of one handle. `release` is CudaApi's function that takes it back; its error, if any, is one that an earlier
/// call has reported.
template <class Handle, int (CudaApi::*release)(Handle)>
class CudaOwner {
 public:
  CudaOwner() = default;
  CudaOwner(CudaApi* api, Handle handle) : api_(api), handle_(handle) {}
  CudaOwner(CudaOwner&& other) noexcept : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  CudaOwner& operator=(CudaOwner&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~CudaOwner() {
    if (handle_ != nullptr) (api_->*release)(handle_);
  }

  [[nodiscard]] Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  CudaApi* api_ = nullptr;
  Handle handle_ = nullptr;
};

using DeviceMemory = CudaOwner<void*, &CudaApi::release>;
using PinnedMemory = CudaOwner<void*, &CudaApi::release_pinned>;
using OwnedStream = CudaOwner<CudaStream, &CudaApi::destroy_stream>;
using OwnedEvent = CudaOwner<CudaEvent, &CudaApi::destroy_event>;
using OwnedGraph = CudaOwner<CudaGraph, &CudaApi::destroy_graph>;
using OwnedExec = CudaOwner<CudaGraphExec, &CudaApi::destroy_exec>;

[[nodiscard]] Result<DeviceMemory> allocate_device(CudaApi& api, std::size_t bytes);
[[nodiscard]] Result<PinnedMemory> allocate_pinned(CudaApi& api, std::size_t bytes);
[[nodiscard]] Result<OwnedStream> create_stream(CudaApi& api);
[[nodiscard]] Result<OwnedEvent> create_event(CudaApi& api);

/// What `enqueue` puts into the stream becomes a graph ready to launch. Errors: enqueue's own, or CUDA's; the stream is
/// out of capture again in either case.
template <class Enqueue>
[[nodiscard]] Result<OwnedExec> capture(CudaApi& api, CudaStream stream, const Enqueue& enqueue) {
  if (const auto begun = checked(api, api.begin_capture(stream), "cudaStreamBeginCapture"); !begun) {
    return begun.error();
  }
  const Result<void> enqueued = enqueue();
  CudaGraph captured = nullptr;
  const int status = api.end_capture(stream, &captured);
  const OwnedGraph graph(&api, captured);
  if (!enqueued) return enqueued.error();
  if (const auto ended = checked(api, status, "cudaStreamEndCapture"); !ended) return ended.error();
  CudaGraphExec exec = nullptr;
  const auto made = checked(api, api.instantiate(&exec, captured), "cudaGraphInstantiate");
  if (!made) return made.error();
  return OwnedExec(&api, exec);
}

}  // namespace roofcal::microbench
