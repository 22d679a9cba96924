// Shapes within what was calibrated, when those that were are too few to choose from or must not be published.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/gpu_spec.h"
#include "core/operator.h"

namespace roofcal {

/// At most `count` legal shapes: the known ones (thinned to half of `count`), and known ones of which a size or two are
/// those of another, so that sizes which belong together mostly stay together. None does more work or moves more bytes
/// than the largest known one, or fills more than `kShareOfMemory` of the GPU. Distinct, in no order. The same input,
/// the same shapes.
[[nodiscard]] std::vector<Shape> shapes_of_hull(const Operator& op, const Attributes& attributes, const GpuSpec& gpu,
                                                std::span<const Shape> known, std::size_t count, std::uint64_t seed);

inline constexpr double kShareOfMemory = 0.8;

}  // namespace roofcal
