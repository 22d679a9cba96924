// Tells measurements of the GPU from measurements of the host that feeds it.
#pragma once

#include <span>

#include "core/gpu_spec.h"
#include "core/sample.h"

namespace roofcal {

/// Whether the times have a plateau that no kernel makes: a floor above 30 us (a graph replay or a queued launch costs
/// 2 to 10) on which calls lie whose roofline times span more than 5 octaves. Precondition: at least one point.
[[nodiscard]] bool looks_host_bound(const ClassKey& key, const GpuSpec& gpu, std::span<const Sample> points);

}  // namespace roofcal
