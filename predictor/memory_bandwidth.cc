#include "predictor/memory_bandwidth.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace roofcal {
namespace {

// Large reads, within what was calibrated; the second takes longer by the bandwidth alone.
constexpr std::int64_t kLarge = std::int64_t{1} << 30;
constexpr std::int64_t kSmall = std::int64_t{1} << 10;

}  // namespace

Result<MemoryBandwidth> memory_bandwidth(const Predictor& predictor, std::string_view gpu) {
  const auto resolution = predictor.resolve({std::string(gpu), "memory", {}, {}, {}, {}, CacheMode::cold});
  if (!resolution) return resolution.error();
  const std::array<Shape, 3> shapes{Shape{kLarge, 0}, Shape{kLarge / 2, 0}, Shape{kSmall, 0}};
  std::array<Answer, 3> answers;
  (*resolution)->predict(shapes, answers);
  const auto& [large, half, small] = answers;
  const Bytes bytes(static_cast<double>(kLarge));
  const BytesPerSecond datasheet = (*resolution)->gpu().memory_bandwidth;

  MemoryBandwidth out;
  out.value = std::min(datasheet, 0.5 * bytes / (large.time - half.time));
  // The same share of time up and down: at this size launching is a thousandth of it.
  out.lo = std::min(out.value, out.value * (large.time / large.hi));
  out.hi = std::min(datasheet, out.value * (large.time / large.lo));
  out.launch_floor = small.time;
  out.provenance = large.provenance;
  const auto warnings = (*resolution)->warnings();
  out.warnings.assign(warnings.begin(), warnings.end());
  return out;
}

}  // namespace roofcal
