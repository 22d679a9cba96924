// What the columns of tensor-core kernels other than plain GEMM have in common: peaks, rounding up, waves, L2.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "core/gpu_spec.h"

namespace roofcal {

/// The figures that columns divide by, all > 0.
struct Machine {
  double peak = 1.0;       ///< FLOP/s of the whole GPU
  double bandwidth = 1.0;  ///< bytes/s of its memory
  double l2 = 1.0;         ///< bytes
  double sms = 1.0;

  [[nodiscard]] double sm_peak() const { return peak / sms; }
  [[nodiscard]] double sm_bandwidth() const { return bandwidth / sms; }

  /// nullopt for a GPU that lacks one of them.
  [[nodiscard]] static std::optional<Machine> of(const GpuSpec& gpu, Rate rate) {
    const Machine machine{gpu.peak(rate).value(), gpu.memory_bandwidth.value(), gpu.l2.value(),
                          static_cast<double>(gpu.sm_count)};
    const bool complete = machine.peak > 0.0 && machine.bandwidth > 0.0 && machine.l2 > 0.0 && machine.sms > 0.0;
    return complete ? std::optional(machine) : std::nullopt;
  }
};

/// ceil(a / b) of positive whole numbers held as doubles.
[[nodiscard]] inline double ceil_ratio(double a, double b) { return std::ceil(a / b); }

/// How full the last wave of `blocks` on the SMs is, averaged over waves: in (0, 1].
[[nodiscard]] inline double wave_fill(double blocks, double sms) { return blocks / (ceil_ratio(blocks, sms) * sms); }

/// The share of `bytes` that still waits in L2 when a call is replayed: 1 well below share * l2, 0 well above.
[[nodiscard]] inline double held_in_l2(double bytes, double l2, double share) {
  const double x = bytes / (share * l2);
  return 1.0 / (1.0 + x * x * x * x * x * x);
}

/// Grows without bound in neither direction: -1 far below L2, 1 far beyond.
[[nodiscard]] inline double beyond_l2(double bytes, double l2) { return std::tanh(std::log2(bytes / l2)); }

}  // namespace roofcal
