#include "microbench/throttle.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace roofcal::microbench {
namespace {

constexpr std::array<std::pair<std::uint64_t, std::string_view>, 9> kNames{{{gpu_idle, "gpu_idle"},
                                                                            {application_clocks, "application_clocks"},
                                                                            {software_power_cap, "sw_power_cap"},
                                                                            {hardware_slowdown, "hw_slowdown"},
                                                                            {sync_boost, "sync_boost"},
                                                                            {software_thermal, "sw_thermal"},
                                                                            {hardware_thermal, "hw_thermal"},
                                                                            {hardware_power_brake, "hw_power_brake"},
                                                                            {display_clock, "display_clock"}}};
constexpr std::uint64_t kAlwaysThrottled =
    hardware_slowdown | software_thermal | hardware_thermal | hardware_power_brake;
constexpr double kFixedClockTolerance = 0.02;

}  // namespace

std::string_view to_string(ClockMode mode) { return mode == ClockMode::as_shipped ? "as_shipped" : "fixed_clock"; }

std::string describe_reasons(std::uint64_t reasons) {
  if (reasons == 0) return "none";
  std::string out;
  const auto append = [&](std::string_view word) {
    if (!out.empty()) out.push_back('+');
    out.append(word);
  };
  for (const auto& [bit, name] : kNames) {
    if ((reasons & bit) != 0) append(name);
    reasons &= ~bit;
  }
  if (reasons != 0) append(fmt::format("{:#x}", reasons));
  return out;
}

bool is_throttled(std::uint64_t reasons, ClockMode mode) {
  const std::uint64_t spoiling =
      mode == ClockMode::as_shipped ? kAlwaysThrottled : kAlwaysThrottled | software_power_cap;
  return (reasons & spoiling) != 0;
}

bool misses_fixed_clock(std::optional<Hertz> reached, Hertz set) {
  return reached && reached->value() < set.value() * (1.0 - kFixedClockTolerance);
}

}  // namespace roofcal::microbench
