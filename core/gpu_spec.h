// A GPU as its datasheet describes it: the figures that bounds and physical columns are made of.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/dtype.h"
#include "core/units.h"

namespace roofcal {

/// Dense peaks at boost clock, links in one direction. A zero figure means that the part does not have it.
struct GpuSpec {
  std::string name;                ///< roofcal's name, e.g. "h200_sxm"
  std::string display_name;        ///< e.g. "NVIDIA H200 SXM 141GB"
  std::string architecture;        ///< "ampere", "ada", "hopper", "blackwell", ...
  std::string compute_capability;  ///< "9.0"
  int sm_count = 0;
  Hertz boost_clock{};
  Bytes memory{};
  BytesPerSecond memory_bandwidth{};
  Bytes l2{};
  BytesPerSecond l2_bandwidth{};  ///< an upper bound derived from bytes a clock, see db/catalogue/README.md
  BytesPerSecond nvlink_bandwidth{};
  BytesPerSecond pcie_bandwidth{};
  Watts tdp{};
  std::array<FlopsPerSecond, kRateCount> peaks{};

  [[nodiscard]] FlopsPerSecond peak(Rate rate) const { return peaks[static_cast<std::size_t>(rate)]; }
  [[nodiscard]] bool has(Rate rate) const { return peak(rate).value() > 0.0; }
};

/// Names are compared without case, spaces and punctuation: "NVIDIA H200" == "nvidia_h200".
[[nodiscard]] std::string normalised_gpu_name(std::string_view name);

}  // namespace roofcal
