#include "microbench/time_left.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/roofline.h"

namespace roofcal::microbench {
namespace {

constexpr double kReached = 0.6;  // of the roofline
constexpr Seconds kFloor{3e-6};
constexpr FlopsPerSecond kUnknownPeak{100e12};
constexpr BytesPerSecond kUnknownBandwidth{1e12};
constexpr BytesPerSecond kUnknownLink{20e9};

constexpr Seconds kSetUp{0.03};      // allocation, heuristic, check on the host
constexpr Seconds kWarmUp{0.05};     // until the clock is steady
constexpr double kFillRate = 500e9;  // bytes/s of random data
constexpr double kSamples = 40.0;    // bursts that a quiet kernel needs, warm-up excluded
constexpr Seconds kBurst{0.5e-3};
constexpr double kPauseFactor = 2.0;

}  // namespace

Seconds expected_kernel_time(const MeasurementCase& one, const GpuSpec& gpu) {
  GpuSpec known = gpu;
  for (auto& peak : known.peaks) {
    if (!(peak.value() > 0.0)) peak = kUnknownPeak;
  }
  if (!(known.memory_bandwidth.value() > 0.0)) known.memory_bandwidth = kUnknownBandwidth;
  if (!(known.pcie_bandwidth.value() > 0.0)) known.pcie_bandwidth = kUnknownLink;
  Work work = work_of(one);
  const Seconds link = work.link_bytes / known.pcie_bandwidth;
  work.link_bytes = Bytes(0.0);
  const Seconds bound = std::max(roofline(known, work, one.cache).time, link);
  return std::max(kFloor, bound / kReached);
}

Seconds expected_case_time(const MeasurementCase& one, const GpuSpec& gpu, const StoppingLimits& limits) {
  const Seconds kernel = expected_kernel_time(one, gpu);
  const Seconds burst = std::max(kernel, kBurst);
  const double samples = std::max(kSamples, static_cast<double>(limits.min_samples));
  const Seconds sampling = std::max(std::min(limits.time_limit, samples * kPauseFactor * burst), kernel);
  return kSetUp + kWarmUp + 3.0 * kernel + Seconds(footprint_of(one).value() / kFillRate) + sampling;
}

void TimeLeft::finished(Seconds expected, Seconds took) {
  rest_ = rest_ - expected;
  expected_done_ += expected;
  took_ += took;
}

Seconds TimeLeft::left(Seconds elapsed) const {
  // The guess counts as one case's worth of evidence, so that the first case does not decide alone.
  constexpr Seconds kPrior{1.0};
  const double ratio = (took_ + kPrior) / (expected_done_ + kPrior);
  Seconds left = std::max(rest_, Seconds(0.0)) * ratio;
  if (budget_) left = std::min(left, std::max(*budget_ - elapsed, Seconds(0.0)));
  return left;
}

std::string duration_text(Seconds time) {
  const auto seconds = static_cast<long>(std::lround(std::max(0.0, time.value())));
  if (seconds >= 3600) return fmt::format("{} h {:02} min", seconds / 3600, seconds % 3600 / 60);
  if (seconds >= 60) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} s", seconds);
}

}  // namespace roofcal::microbench
