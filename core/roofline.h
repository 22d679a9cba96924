// The hard bound: no call can be faster than its work at datasheet peaks.
#pragma once

#include <string_view>

#include "core/gpu_spec.h"
#include "core/operator.h"
#include "core/units.h"

namespace roofcal {

/// What limits a call. `latency` is never a hard bound: it names calls whose launch floor outweighs their work.
enum class Limit { compute, memory, l2, link, latency };
[[nodiscard]] std::string_view to_string(Limit limit);

struct Roofline {
  Seconds time{};  ///< the largest of the terms
  Limit limit = Limit::compute;
  Seconds compute{};
  Seconds memory{};
  Seconds l2{};
  Seconds link{};
};

/// Roofline of Williams, Waterman, Patterson (CACM 52(4), 2009) with two memory levels. Hot: operands may wait in L2,
/// so HBM counts only for the bytes beyond the L2 size, and all bytes cross the L2. Cold: all bytes come from HBM. A
/// figure that the GPU lacks (no fp8, no NVLink) makes its term zero; ask GpuSpec::has first where that matters.
[[nodiscard]] Roofline roofline(const GpuSpec& gpu, const Work& work, CacheMode cache);

}  // namespace roofcal
