#include "microbench/gpu/cuda_runtime_api.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace roofcal::microbench {
namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string out = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out.push_back('-');
    out += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return out;
}

class RuntimeApi final : public CudaApi {
 public:
  int device_count(int* count) override { return cudaGetDeviceCount(count); }
  int set_device(int index) override { return cudaSetDevice(index); }
  int properties(int index, CudaProperties* out) override {
    cudaDeviceProp found{};
    if (const cudaError_t status = cudaGetDeviceProperties(&found, index); status != cudaSuccess) return status;
    out->name = found.name;
    out->uuid = uuid_text(found.uuid);
    out->major = found.major;
    out->minor = found.minor;
    out->sm_count = found.multiProcessorCount;
    out->l2_bytes = static_cast<double>(found.l2CacheSize);
    out->memory_bytes = static_cast<double>(found.totalGlobalMem);
    int value = 0;
    if (cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, index) == cudaSuccess) out->clock_hz = 1e3 * value;
    int width = 0;
    if (cudaDeviceGetAttribute(&value, cudaDevAttrMemoryClockRate, index) == cudaSuccess &&
        cudaDeviceGetAttribute(&width, cudaDevAttrGlobalMemoryBusWidth, index) == cudaSuccess) {
      out->memory_bytes_per_s = 2.0 * 1e3 * value * width / 8.0;
    }
    return cudaSuccess;
  }
  int runtime_version(int* version) override { return cudaRuntimeGetVersion(version); }
  int memory_info(std::size_t* free, std::size_t* total) override { return cudaMemGetInfo(free, total); }
  int allocate(void** pointer, std::size_t bytes) override { return cudaMalloc(pointer, bytes); }
  int release(void* pointer) override { return cudaFree(pointer); }
  int allocate_pinned(void** pointer, std::size_t bytes) override { return cudaMallocHost(pointer, bytes); }
  int release_pinned(void* pointer) override { return cudaFreeHost(pointer); }
  int copy(void* to, const void* from, std::size_t bytes, CudaStream stream) override {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
  }
  int fill(void* pointer, int byte, std::size_t bytes, CudaStream stream) override {
    return cudaMemsetAsync(pointer, byte, bytes, stream);
  }
  int create_stream(CudaStream* stream) override { return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking); }
  int destroy_stream(CudaStream stream) override { return cudaStreamDestroy(stream); }
  int synchronize(CudaStream stream) override { return cudaStreamSynchronize(stream); }
  int create_event(CudaEvent* event) override { return cudaEventCreate(event); }
  int destroy_event(CudaEvent event) override { return cudaEventDestroy(event); }
  int record(CudaEvent event, CudaStream stream) override { return cudaEventRecord(event, stream); }
  int wait_for(CudaEvent event) override { return cudaEventSynchronize(event); }
  int elapsed(float* milliseconds, CudaEvent from, CudaEvent to) override {
    return cudaEventElapsedTime(milliseconds, from, to);
  }
  int begin_capture(CudaStream stream) override {
    return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  }
  int end_capture(CudaStream stream, CudaGraph* graph) override { return cudaStreamEndCapture(stream, graph); }
  int instantiate(CudaGraphExec* exec, CudaGraph graph) override { return cudaGraphInstantiate(exec, graph, 0); }
  int destroy_graph(CudaGraph graph) override { return cudaGraphDestroy(graph); }
  int destroy_exec(CudaGraphExec exec) override { return cudaGraphExecDestroy(exec); }
  int launch(CudaGraphExec exec, CudaStream stream) override { return cudaGraphLaunch(exec, stream); }
  int last_error() override { return cudaGetLastError(); }
  std::string error_text(int status) override {
    const auto error = static_cast<cudaError_t>(status);
    return fmt::format("{} ({})", cudaGetErrorName(error), cudaGetErrorString(error));
  }
};

}  // namespace

std::unique_ptr<CudaApi> cuda_runtime_api() { return std::make_unique<RuntimeApi>(); }

}  // namespace roofcal::microbench
