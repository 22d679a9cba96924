#include "microbench/gpu/nvml.h"

#include <fmt/format.h>

#include <array>

#include "microbench/gpu/dynamic_library.h"

namespace roofcal::microbench {
namespace {

constexpr unsigned kSmClock = 1;         // NVML_CLOCK_SM
constexpr unsigned kGpuTemperature = 0;  // NVML_TEMPERATURE_GPU
constexpr std::size_t kTextBytes = 96;   // NVML_DEVICE_NAME_V2_BUFFER_SIZE; the others are shorter

}  // namespace

// A pointer that stays null is a figure that this driver does not tell.
struct Nvml::Api {
  explicit Api(DynamicLibrary opened) : library(std::move(opened)) {}
  ~Api() {
    if (started && shutdown != nullptr) shutdown();
  }
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  template <class Function>
  [[nodiscard]] Function* get(const char* symbol) const {
    return library.function<Function>(symbol);
  }

  DynamicLibrary library;
  bool started = false;
  int (*init)() = get<int()>("nvmlInit_v2");
  int (*shutdown)() = get<int()>("nvmlShutdown");
  const char* (*error_string)(int) = get<const char*(int)>("nvmlErrorString");
  int (*count)(unsigned*) = get<int(unsigned*)>("nvmlDeviceGetCount_v2");
  int (*by_index)(unsigned, void**) = get<int(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
  int (*by_uuid)(const char*, void**) = get<int(const char*, void**)>("nvmlDeviceGetHandleByUUID");

  using Text = int(void*, char*, unsigned);
  using Number = int(void*, unsigned*);
  using NumberOf = int(void*, unsigned, unsigned*);
  using Pair = int(void*, unsigned*, unsigned*);
  Text* name = get<Text>("nvmlDeviceGetName");
  Text* vbios = get<Text>("nvmlDeviceGetVbiosVersion");
  int (*driver)(char*, unsigned) = get<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  int (*cuda_driver)(int*) = get<int(int*)>("nvmlSystemGetCudaDriverVersion_v2");
  // Renamed in driver 535; the old name still works there.
  int (*reasons)(void*, unsigned long long*) = [this] {
    using Reasons = int(void*, unsigned long long*);
    auto* renamed = get<Reasons>("nvmlDeviceGetCurrentClocksEventReasons");
    return renamed != nullptr ? renamed : get<Reasons>("nvmlDeviceGetCurrentClocksThrottleReasons");
  }();
  NumberOf* clock = get<NumberOf>("nvmlDeviceGetClockInfo");
  NumberOf* max_clock = get<NumberOf>("nvmlDeviceGetMaxClockInfo");
  NumberOf* set_clock = get<NumberOf>("nvmlDeviceGetApplicationsClock");
  NumberOf* temperature = get<NumberOf>("nvmlDeviceGetTemperature");
  Number* power = get<Number>("nvmlDeviceGetPowerUsage");
  Number* power_limit = get<Number>("nvmlDeviceGetEnforcedPowerLimit");
  Number* power_default = get<Number>("nvmlDeviceGetPowerManagementDefaultLimit");
  Number* pcie_generation = get<Number>("nvmlDeviceGetCurrPcieLinkGeneration");
  Number* pcie_width = get<Number>("nvmlDeviceGetCurrPcieLinkWidth");
  Pair* ecc = get<Pair>("nvmlDeviceGetEccMode");
  Pair* mig = get<Pair>("nvmlDeviceGetMigMode");

  [[nodiscard]] std::string text(int status) const {
    const char* said = error_string == nullptr ? nullptr : error_string(status);
    return said == nullptr ? fmt::format("status {}", status) : std::string(said);
  }
};

Nvml::Nvml(std::unique_ptr<Api> api) : api_(std::move(api)) {}
Nvml::Nvml(Nvml&&) noexcept = default;
Nvml& Nvml::operator=(Nvml&&) noexcept = default;
Nvml::~Nvml() = default;

Result<Nvml> Nvml::open(const std::string& library) {
  const std::array<std::string, 1> names{library.empty() ? "libnvidia-ml.so.1" : library};
  auto opened = DynamicLibrary::open(names);
  if (!opened) return Error{ErrorCode::no_gpu, fmt::format("no GPU driver: {}", opened.error().message)};
  auto api = std::make_unique<Api>(*std::move(opened));
  if (api->init == nullptr || api->count == nullptr || api->by_index == nullptr) {
    return Error{ErrorCode::no_gpu, fmt::format("no GPU driver: {} is no NVML", names[0])};
  }
  if (const int status = api->init(); status != 0) {
    return Error{ErrorCode::no_gpu, fmt::format("the GPU driver does not start: {}", api->text(status))};
  }
  api->started = true;
  return Nvml(std::move(api));
}

Result<int> Nvml::device_count() const {
  unsigned count = 0;
  if (const int status = api_->count(&count); status != 0) {
    return Error{ErrorCode::no_gpu, fmt::format("the driver cannot count its GPUs: {}", api_->text(status))};
  }
  if (count == 0) return Error{ErrorCode::no_gpu, "the driver sees no GPU"};
  return static_cast<int>(count);
}

Result<std::string> Nvml::device_name(int index) const {
  void* handle = nullptr;
  std::array<char, kTextBytes> text{};
  if (const int status = api_->by_index(static_cast<unsigned>(index), &handle); status != 0) {
    return Error{ErrorCode::io, fmt::format("GPU {}: {}", index, api_->text(status))};
  }
  if (api_->name == nullptr || api_->name(handle, text.data(), kTextBytes) != 0) {
    return Error{ErrorCode::io, fmt::format("GPU {}: the driver does not tell its name", index)};
  }
  return std::string(text.data());
}

Result<Nvml::Gpu> Nvml::gpu(const std::string& uuid) const {
  void* handle = nullptr;
  if (api_->by_uuid == nullptr) return Error{ErrorCode::io, "NVML finds no GPU by its UUID: the driver is too old"};
  if (const int status = api_->by_uuid(uuid.c_str(), &handle); status != 0) {
    return Error{ErrorCode::io, fmt::format("NVML does not know {}: {}", uuid, api_->text(status))};
  }
  return Gpu(this, handle);
}

Telemetry Nvml::Gpu::telemetry() const {
  const Api& api = *nvml_->api_;
  Telemetry out;
  unsigned long long reasons = 0;
  if (api.reasons != nullptr && api.reasons(handle_, &reasons) == 0) out.throttle_reasons = reasons;
  unsigned value = 0;
  if (api.clock != nullptr && api.clock(handle_, kSmClock, &value) == 0) out.sm_clock = Hertz(1e6 * value);
  if (api.power != nullptr && api.power(handle_, &value) == 0) out.power = Watts(1e-3 * value);
  if (api.power_limit != nullptr && api.power_limit(handle_, &value) == 0) out.power_limit = Watts(1e-3 * value);
  if (api.temperature != nullptr && api.temperature(handle_, kGpuTemperature, &value) == 0) {
    out.temperature_c = static_cast<double>(value);
  }
  return out;
}

std::map<std::string, std::string> Nvml::Gpu::details() const {
  const Api& api = *nvml_->api_;
  std::map<std::string, std::string> out;
  std::array<char, kTextBytes> text{};
  if (api.vbios != nullptr && api.vbios(handle_, text.data(), kTextBytes) == 0) out["vbios"] = text.data();
  if (api.driver != nullptr && api.driver(text.data(), kTextBytes) == 0) out["driver"] = text.data();
  int version = 0;
  if (api.cuda_driver != nullptr && api.cuda_driver(&version) == 0) {
    out["cuda_driver"] = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  }
  unsigned first = 0;
  unsigned second = 0;
  if (api.power_limit != nullptr && api.power_limit(handle_, &first) == 0) {
    out["power_limit_w"] = fmt::format("{}", 1e-3 * first);
  }
  if (api.power_default != nullptr && api.power_default(handle_, &first) == 0) {
    out["power_default_w"] = fmt::format("{}", 1e-3 * first);
  }
  if (api.max_clock != nullptr && api.max_clock(handle_, kSmClock, &first) == 0) {
    out["sm_clock_max_hz"] = fmt::format("{}", 1e6 * first);
  }
  if (api.set_clock != nullptr && api.set_clock(handle_, kSmClock, &first) == 0) {
    out["sm_clock_set_hz"] = fmt::format("{}", 1e6 * first);
  }
  const auto on = [](unsigned mode) { return mode == 0 ? "off" : "on"; };
  if (api.ecc != nullptr && api.ecc(handle_, &first, &second) == 0) out["ecc"] = on(first);
  if (api.mig != nullptr && api.mig(handle_, &first, &second) == 0) out["mig"] = on(first);
  if (api.pcie_generation != nullptr && api.pcie_width != nullptr && api.pcie_generation(handle_, &first) == 0 &&
      api.pcie_width(handle_, &second) == 0) {
    out["pcie"] = fmt::format("gen {} x{}", first, second);
  }
  if (api.count(&first) == 0) out["gpus_of_node"] = fmt::format("{}", first);
  return out;
}

}  // namespace roofcal::microbench
