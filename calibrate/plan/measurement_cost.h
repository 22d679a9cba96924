// What measuring one shape costs, and what is assumed about it.
#pragma once

#include <algorithm>

#include "core/units.h"

namespace roofcal {

/// GPU time of one believable sample of a kernel (docs/measuring.md): warmed up by the clock through the timed path,
/// then samples until the standard error is small. A sample of a short kernel is a graph replay of several calls.
struct MeasurementCost {
  Seconds warm_up{10e-3};      ///< until the SM clock is steady ...
  double warm_up_calls = 3.0;  ///< ... and at least as many calls
  double samples = 12.0;   ///< 10 at least; kernels whose times scatter by 2 % need 16 for a standard error of 0.5 %
  Seconds sample{200e-6};  ///< the shortest

  [[nodiscard]] Seconds of(Seconds call) const {
    return std::max(warm_up, warm_up_calls * call) + samples * std::max(sample, call);
  }
};

}  // namespace roofcal
