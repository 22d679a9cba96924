// Random operands, the same on host and device: element i of a buffer is a hash of the buffer's seed and i, so that the
// host can recompute what any element was.
#pragma once

#include <cstdint>

#include "microbench/number_formats.h"

namespace roofcal::microbench {

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014) of a counter.
[[nodiscard]] constexpr std::uint64_t hash_of(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// Uniform in [-1, 1), 24 bits.
[[nodiscard]] constexpr float random_unit(std::uint64_t seed, std::uint64_t index) {
  return static_cast<float>(hash_of(seed, index) >> 40) * (2.0F / 16777216.0F) - 1.0F;
}

/// How much of [-1, 1) a format spans: fp4 has few values within, so its whole range of 6 is used (a block's scale
/// would do that); int8 uses -127 .. 127.
[[nodiscard]] constexpr float random_range(NumberFormat format) {
  if (format == NumberFormat::fp4_e2m1) return 6.0F;
  return format == NumberFormat::int8 ? 127.0F : 1.0F;
}

/// The bits of element `index`.
[[nodiscard]] constexpr std::uint32_t random_bits(NumberFormat format, std::uint64_t seed, std::uint64_t index) {
  return encode(format, random_unit(seed, index) * random_range(format));
}

/// What data a sample was taken on; stored with it. Zeros run some 15 % faster.
enum class DataFill { random, zeros };

}  // namespace roofcal::microbench
