// A GPU of numbers: a clock of its own, kernels that take what the roofline says, faults on demand.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/roofline.h"
#include "microbench/device.h"
#include "microbench/time_left.h"

namespace roofcal::microbench {

inline GpuFacts simulated_facts() {
  GpuFacts facts;
  facts.name = "NVIDIA H200";
  facts.uuid = "GPU-00000000-1111-2222-3333-444444444444";
  facts.compute_major = 9;
  facts.sm_count = 132;
  facts.boost_clock = Hertz(1.98e9);
  facts.l2 = Bytes(62914560.0);
  facts.memory = Bytes(141e9);
  facts.memory_bandwidth = BytesPerSecond(4.8e12);
  facts.details = {{"driver", "580.65"}, {"cuda_runtime", "13.0"}, {"cublaslt", "13.1.0"}};
  return facts;
}

inline GpuSpec simulated_spec() {
  GpuSpec spec;
  spec.name = "h200_sxm";
  spec.sm_count = 132;
  spec.memory_bandwidth = BytesPerSecond(4.8e12);
  spec.l2 = Bytes(62914560.0);
  spec.l2_bandwidth = BytesPerSecond(16.7e12);
  spec.pcie_bandwidth = BytesPerSecond(64e9);
  for (auto& peak : spec.peaks) peak = FlopsPerSecond(989e12);
  spec.peaks[static_cast<std::size_t>(Rate::fp32)] = FlopsPerSecond(67e12);
  return spec;
}

class SimulatedDevice final : public Device {
 public:
  // What tests set.
  std::function<double(int sample)> time_factor = [](int) { return 1.0; };  ///< of each burst, counted over all
  std::function<std::optional<Hertz>(int burst)> clock = [](int) { return std::optional(Hertz(1.9e9)); };
  std::uint64_t reasons = 0;
  Bytes free{130e9};
  std::set<std::string> wrong;        ///< ids of cases that compute nonsense
  std::set<std::string> unsupported;  ///< ids of cases without a kernel
  int fail_after_bursts = -1;         ///< a sticky CUDA error from then on
  std::function<void()> on_prepare = [] {};

  // What tests look at.
  std::vector<std::string> prepared;
  int bursts = 0;
  int paused = 0;

  [[nodiscard]] const GpuFacts& facts() const override { return facts_; }
  GpuFacts& facts() { return facts_; }
  Result<Bytes> free_memory() override { return free; }
  Telemetry telemetry() override { return {reasons, Hertz(1.9e9), Watts(600.0), Watts(700.0), 55.0}; }
  Seconds now() override { return now_; }
  void wait(Seconds time) override {
    ++paused;
    now_ += time;
  }
  Result<std::string> choice(const MeasurementCase& one) override {
    now_ += Seconds(20e-6);
    return std::string(one.sizes.at("m") <= 64 ? "id=1 tile=1" : "id=2 tile=2");
  }

  Result<std::unique_ptr<Subject>> prepare(const MeasurementCase& one, const PrepareOptions&) override {
    on_prepare();
    if (unsupported.contains(case_id(one))) return Error{ErrorCode::not_calibrated, "cublasLt has no kernel for it"};
    prepared.push_back(case_id(one));
    now_ += Seconds(10e-3);
    return std::unique_ptr<Subject>(new Simulated(*this, one));
  }

 private:
  class Simulated final : public Subject {
   public:
    Simulated(SimulatedDevice& device, const MeasurementCase& one) : device_(device), case_(one) {}
    Result<Check> check() override {
      device_.now_ += Seconds(5e-3);
      Check out;
      if (case_.kind == kLaunchKind || case_.kind == kTransferKind) return out;
      out.compare(device_.wrong.contains(case_id(case_)) ? 2.0 : 1.0, {1.0, 0.01}, "element (0, 0)");
      return out;
    }
    Result<Seconds> probe() override { return advance(1); }
    Result<void> arrange(const LaunchPlan& plan) override {
      plan_ = plan;
      return {};
    }
    Result<Burst> burst() override {
      const int burst = device_.bursts++;
      if (device_.fail_after_bursts >= 0 && burst >= device_.fail_after_bursts) {
        return Error{ErrorCode::io, "cudaEventSynchronize: cudaErrorIllegalAddress (an illegal memory access)"};
      }
      const Seconds time = advance(plan_.launches) * device_.time_factor(burst);
      return Burst{time / static_cast<double>(plan_.launches), device_.clock(burst)};
    }
    std::string algorithm() const override { return case_.op == "gemm" ? "id=66 tile=18 splitk=1" : ""; }
    std::map<std::string, std::string> notes() const override { return {{"layout", "TN"}}; }

   private:
    Seconds advance(std::size_t launches) {
      const Seconds time = static_cast<double>(launches) * expected_kernel_time(case_, simulated_spec());
      device_.now_ += time;
      return time;
    }
    SimulatedDevice& device_;
    MeasurementCase case_;
    LaunchPlan plan_;
  };

  GpuFacts facts_ = simulated_facts();
  Seconds now_{};
};

}  // namespace roofcal::microbench
