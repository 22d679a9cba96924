#include "microbench/gpu/cuda_device.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <thread>

#include "microbench/gpu/dynamic_library.h"
#include "microbench/gpu/subjects.h"

namespace roofcal::microbench {
namespace {

// Libraries that a run may have used or not: their versions are provenance, no more.
void note_versions(std::map<std::string, std::string>& details) {
  const std::array<std::string, 1> cudnn{"libcudnn.so.9"};
  if (const auto library = DynamicLibrary::open(cudnn)) {
    if (auto* version = library->function<std::size_t()>("cudnnGetVersion")) {
      const std::size_t v = version();
      details["cudnn"] = fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
    }
  }
  const std::array<std::string, 1> nccl{"libnccl.so.2"};
  if (const auto library = DynamicLibrary::open(nccl)) {
    int v = 0;
    if (auto* version = library->function<int(int*)>("ncclGetVersion"); version != nullptr && version(&v) == 0) {
      details["nccl"] = fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
    }
  }
}

class CudaDevice final : public Device {
 public:
  CudaDevice(CudaApi& api, Kernels& kernels) : gpu_{api, kernels, nullptr, {}, {}} {}

  Result<void> open(int index, const LibraryNames& libraries, std::vector<std::string>& warnings) {
    CudaApi& api = gpu_.api;
    if (const auto done = checked(api, api.set_device(index), "cudaSetDevice"); !done) return done;
    CudaProperties found;
    if (const auto done = checked(api, api.properties(index, &found), "cudaGetDeviceProperties"); !done) return done;
    auto stream = create_stream(api);
    if (!stream) return stream.error();
    gpu_.stream = *std::move(stream);
    GpuFacts& facts = gpu_.facts;
    facts.index = index;
    facts.name = found.name;
    facts.uuid = found.uuid;
    facts.compute_major = found.major;
    facts.compute_minor = found.minor;
    facts.sm_count = found.sm_count;
    facts.boost_clock = Hertz(found.clock_hz);
    facts.l2 = Bytes(found.l2_bytes);
    facts.memory = Bytes(found.memory_bytes);
    facts.memory_bandwidth = BytesPerSecond(found.memory_bytes_per_s);
    int version = 0;
    if (api.runtime_version(&version) == 0) {
      facts.details["cuda_runtime"] = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    }
    open_nvml(libraries.nvml, warnings);
    auto cublaslt = CublasLt::open(libraries.cublaslt);
    if (cublaslt) {
      cublaslt_ = *std::move(cublaslt);
      gpu_.cublaslt = cublaslt_.get();
      facts.details["cublaslt"] = cublaslt_->version();
    } else {
      warnings.push_back(fmt::format("GEMMs are left out: {}", cublaslt.error().message));
    }
    note_versions(facts.details);
    return {};
  }

  const GpuFacts& facts() const override { return gpu_.facts; }

  Result<Bytes> free_memory() override {
    std::size_t free = 0;
    std::size_t total = 0;
    const auto done = checked(gpu_.api, gpu_.api.memory_info(&free, &total), "cudaMemGetInfo");
    if (!done) return done.error();
    return Bytes(static_cast<double>(free));
  }

  Telemetry telemetry() override { return nvml_gpu_ ? nvml_gpu_->telemetry() : Telemetry(); }

  Result<std::unique_ptr<Subject>> prepare(const MeasurementCase& one, const PrepareOptions& options) override {
    if (one.op == "gemm") return prepare_gemm(gpu_, one, options);
    if (one.op == "memory") return prepare_memory(gpu_, one, options);
    if (one.kind == kLaunchKind) return prepare_launch(gpu_, one, options);
    if (one.kind == kTransferKind) return prepare_transfer(gpu_, one, options);
    return Error{ErrorCode::not_calibrated, fmt::format("there is no measurement of {} here", one.op)};
  }

  Result<std::string> choice(const MeasurementCase& one) override { return gemm_choice(gpu_, one); }

  Seconds now() override {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now().time_since_epoch();
    return Seconds(since.count());
  }
  void wait(Seconds time) override { std::this_thread::sleep_for(std::chrono::duration<double>(time.value())); }

 private:
  void open_nvml(const std::string& library, std::vector<std::string>& warnings) {
    auto nvml = Nvml::open(library);
    if (!nvml) {
      warnings.push_back(fmt::format("samples carry no throttle reasons: {}", nvml.error().message));
      return;
    }
    nvml_ = std::make_unique<Nvml>(*std::move(nvml));
    const auto gpu = nvml_->gpu(gpu_.facts.uuid);
    if (!gpu) {
      warnings.push_back(fmt::format("samples carry no throttle reasons: {}", gpu.error().message));
      return;
    }
    nvml_gpu_ = *gpu;
    gpu_.facts.details.merge(nvml_gpu_->details());
  }

  // Declared first, closed last: subjects are gone by then, and handles before their libraries.
  std::unique_ptr<Nvml> nvml_;
  std::unique_ptr<CublasLt> cublaslt_;
  std::optional<Nvml::Gpu> nvml_gpu_;
  GpuContext gpu_;
};

}  // namespace

Result<int> count_gpus(CudaApi& api) {
  int count = 0;
  const int status = api.device_count(&count);
  if (status != 0)
    return Error{ErrorCode::no_gpu, fmt::format("no GPU: cudaGetDeviceCount: {}", api.error_text(status))};
  if (count == 0) return Error{ErrorCode::no_gpu, "no GPU: CUDA sees none"};
  return count;
}

Result<std::unique_ptr<Device>> open_gpu(CudaApi& api, Kernels& kernels, int index, const LibraryNames& libraries,
                                         std::vector<std::string>& warnings) {
  const auto count = count_gpus(api);
  if (!count) return count.error();
  if (index < 0 || index >= *count) {
    return Error{ErrorCode::no_gpu, fmt::format("there is no GPU {}: CUDA sees {}", index, *count)};
  }
  auto device = std::make_unique<CudaDevice>(api, kernels);
  if (const auto opened = device->open(index, libraries, warnings); !opened) return opened.error();
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace roofcal::microbench
