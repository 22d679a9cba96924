#include "microbench/launch_plan.h"

#include <algorithm>
#include <cmath>

namespace roofcal::microbench {
namespace {

constexpr Seconds kGraphBelow{50e-6};
constexpr Seconds kBurst{500e-6};
constexpr Seconds kLongestBurst{5e-3};
constexpr double kMostLaunches = 256.0;
constexpr Seconds kLongestPause{2e-3};

}  // namespace

std::string_view to_string(LaunchMode mode) {
  switch (mode) {
    case LaunchMode::stream:
      return "stream";
    case LaunchMode::graph:
      return "graph";
    case LaunchMode::host_loop:
      break;
  }
  return "host_loop";
}

LaunchPlan plan_launches(Seconds kernel, const CacheRotation& rotation) {
  LaunchPlan plan;
  plan.mode = kernel < kGraphBelow ? LaunchMode::graph : LaunchMode::stream;
  const double most = std::clamp(std::floor(kLongestBurst / kernel), 1.0, kMostLaunches);
  double launches = std::clamp(std::ceil(kBurst / kernel), 1.0, most);
  const auto sets = static_cast<double>(rotation.sets);
  if (rotation.flush) {
    launches = std::min(sets, most);
  } else if (rotation.mode == CacheMode::cold && plan.mode == LaunchMode::graph) {
    // A replay starts anew at the first set: it has to go through all of them.
    launches = std::ceil(launches / sets) * sets;
  }
  plan.launches = static_cast<std::size_t>(launches);
  plan.pause = std::min(launches * kernel, kLongestPause);
  return plan;
}

}  // namespace roofcal::microbench
