// How fast a GPU's memory really is: what steps, weights and caches that no table covers are priced by.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "predictor/predictor.h"

namespace roofcal {

struct MemoryBandwidth {
  BytesPerSecond value{};  ///< at which a large read from HBM goes on, its launch aside
  BytesPerSecond lo{};     ///< 90 % interval
  BytesPerSecond hi{};     ///< never above the datasheet
  Seconds launch_floor{};  ///< of the smallest kernel in a graph replay
  Provenance provenance = Provenance::roofline;
  std::vector<std::string> warnings;  ///< what stands in for what
};

/// The calibrated HBM bandwidth of a GPU, from whatever calibration of the `memory` operator answers for it (the
/// store's, the built-in one, another GPU's carried over). Errors as Predictor::resolve.
[[nodiscard]] Result<MemoryBandwidth> memory_bandwidth(const Predictor& predictor, std::string_view gpu);

}  // namespace roofcal
