// NVML, opened at run time: which GPUs there are, their clocks, throttle reasons, power and provenance. The header does
// not come with the driver, so the few prototypes that are needed are declared in nvml.cc.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "core/units.h"
#include "microbench/device.h"

namespace roofcal::microbench {

class Nvml {
 public:
  /// `library`: for tests; empty: libnvidia-ml.so.1. Errors: no_gpu, where there is no driver or it does not start.
  [[nodiscard]] static Result<Nvml> open(const std::string& library = {});
  Nvml(Nvml&&) noexcept;
  Nvml& operator=(Nvml&&) noexcept;
  ~Nvml();

  /// Errors: no_gpu, where the driver sees none.
  [[nodiscard]] Result<int> device_count() const;
  /// As the driver writes it. Errors: io.
  [[nodiscard]] Result<std::string> device_name(int index) const;

  /// A device by the UUID that CUDA gives it: CUDA_VISIBLE_DEVICES renumbers, UUIDs stay.
  class Gpu {
   public:
    /// Figures that NVML does not tell stay empty.
    [[nodiscard]] Telemetry telemetry() const;
    /// vbios, driver, cuda_driver, power_limit_w, power_default_w, sm_clock_max_hz, sm_clock_set_hz, ecc, mig, pcie,
    /// gpus_of_node: what NVML tells of them.
    [[nodiscard]] std::map<std::string, std::string> details() const;

   private:
    friend class Nvml;
    Gpu(const Nvml* nvml, void* handle) : nvml_(nvml), handle_(handle) {}
    const Nvml* nvml_;
    void* handle_;
  };
  /// The result must not outlive this. Errors: io.
  [[nodiscard]] Result<Gpu> gpu(const std::string& uuid) const;

 private:
  struct Api;
  explicit Nvml(std::unique_ptr<Api> api);
  std::unique_ptr<Api> api_;
};

}  // namespace roofcal::microbench
