// Why a GPU runs below its highest clock, as NVML says it, and which of that spoils a sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/units.h"

namespace roofcal::microbench {

/// Bits of nvmlDeviceGetCurrentClocksEventReasons (nvml.h, nvmlClocksEventReason*).
enum ThrottleReason : std::uint64_t {
  gpu_idle = 0x1,
  application_clocks = 0x2,
  software_power_cap = 0x4,
  hardware_slowdown = 0x8,
  sync_boost = 0x10,
  software_thermal = 0x20,
  hardware_thermal = 0x40,
  hardware_power_brake = 0x80,
  display_clock = 0x100,
};

/// What a run declares about clocks. roofcal never changes them.
enum class ClockMode {
  as_shipped,   ///< what users get: the power cap sets the clock
  fixed_clock,  ///< the operator has fixed the clock; the power cap must not touch it
};
[[nodiscard]] std::string_view to_string(ClockMode mode);

/// Names joined by '+', in the order of the bits; unknown bits in hexadecimal; "none" for none.
[[nodiscard]] std::string describe_reasons(std::uint64_t reasons);

/// Whether a sample taken under these reasons is left out of fits. Heat, a power brake and hardware slowdown spoil
/// every sample. The software power cap is part of what "as shipped" means (a large GEMM runs at it throughout) and
/// spoils only a fixed clock.
[[nodiscard]] bool is_throttled(std::uint64_t reasons, ClockMode mode);

/// In fixed-clock mode, whether the clock that a sample ran at fell short of the one set by more than 2 %.
[[nodiscard]] bool misses_fixed_clock(std::optional<Hertz> reached, Hertz set);

}  // namespace roofcal::microbench
