// How a kernel is launched while it is timed: one by one in a stream, or several in a replay of a CUDA graph.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/units.h"
#include "microbench/cache_rotation.h"

namespace roofcal::microbench {

enum class LaunchMode { stream, graph, host_loop };
/// As the store spells it.
[[nodiscard]] std::string_view to_string(LaunchMode mode);

/// One burst is one sample: `launches` launches between two device events, its time divided by their number.
struct LaunchPlan {
  LaunchMode mode = LaunchMode::stream;
  std::size_t launches = 1;
  Seconds pause{};  ///< after a burst, so that bursts do not heat or power-cap the GPU more than single calls do
};

/// Kernels under 50 us: a graph, in which the host's launch rate does not show. Launches enough for 0.5 ms between the
/// events (whose grain is 0.5 us, and the device's nanosecond timer ticks once a microsecond on some GPUs), at most 256
/// and at most 5 ms. A cold burst uses each set equally often, and exactly once where the L2 is flushed before it.
/// `kernel`: how long one launch takes, as a first probe showed.
[[nodiscard]] LaunchPlan plan_launches(Seconds kernel, const CacheRotation& rotation);

}  // namespace roofcal::microbench
