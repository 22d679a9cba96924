// The CUDA runtime as this program uses it, behind an interface: the wrappers and everything above compile and are
// tested without CUDA, by a shim that fails any call.
#pragma once

#include <cstddef>
#include <string>

#include "core/result.h"

// CUDA's own handle types (driver_types.h).
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;

namespace roofcal::microbench {

using CudaStream = CUstream_st*;
using CudaEvent = CUevent_st*;
using CudaGraph = CUgraph_st*;
using CudaGraphExec = CUgraphExec_st*;

struct CudaProperties {
  std::string name;
  std::string uuid;  ///< "GPU-..." as NVML writes it
  int major = 0;
  int minor = 0;
  int sm_count = 0;
  double clock_hz = 0.0;
  double l2_bytes = 0.0;
  double memory_bytes = 0.0;
  double memory_bytes_per_s = 0.0;  ///< twice the memory clock times the bus width; 0: not told
};

/// Each function returns a cudaError_t, 0 for success.
class CudaApi {
 public:
  virtual ~CudaApi() = default;
  virtual int device_count(int* count) = 0;
  virtual int set_device(int index) = 0;
  virtual int properties(int index, CudaProperties* out) = 0;
  virtual int runtime_version(int* version) = 0;
  virtual int memory_info(std::size_t* free, std::size_t* total) = 0;
  virtual int allocate(void** pointer, std::size_t bytes) = 0;
  virtual int release(void* pointer) = 0;
  virtual int allocate_pinned(void** pointer, std::size_t bytes) = 0;
  virtual int release_pinned(void* pointer) = 0;
  virtual int copy(void* to, const void* from, std::size_t bytes, CudaStream stream) = 0;
  virtual int fill(void* pointer, int byte, std::size_t bytes, CudaStream stream) = 0;
  virtual int create_stream(CudaStream* stream) = 0;
  virtual int destroy_stream(CudaStream stream) = 0;
  virtual int synchronize(CudaStream stream) = 0;
  virtual int create_event(CudaEvent* event) = 0;
  virtual int destroy_event(CudaEvent event) = 0;
  virtual int record(CudaEvent event, CudaStream stream) = 0;
  virtual int wait_for(CudaEvent event) = 0;
  virtual int elapsed(float* milliseconds, CudaEvent from, CudaEvent to) = 0;
  virtual int begin_capture(CudaStream stream) = 0;
  virtual int end_capture(CudaStream stream, CudaGraph* graph) = 0;
  virtual int instantiate(CudaGraphExec* exec, CudaGraph graph) = 0;
  virtual int destroy_graph(CudaGraph graph) = 0;
  virtual int destroy_exec(CudaGraphExec exec) = 0;
  virtual int launch(CudaGraphExec exec, CudaStream stream) = 0;
  virtual int last_error() = 0;
  virtual std::string error_text(int status) = 0;  ///< "cudaErrorMemoryAllocation (out of memory)"
};

/// The one error path: what was called, and what CUDA says.
[[nodiscard]] Result<void> checked(CudaApi& api, int status, const char* call);

}  // namespace roofcal::microbench
