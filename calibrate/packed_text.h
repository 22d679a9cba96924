// Integer arrays as plain text that gzip packs well and that parses at memory speed: base-64 digits, digit by digit
// (all lowest digits first), so that the mostly-zero upper digits compress to almost nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roofcal {

/// Precondition: every value < 64^digits, digits <= 5.
[[nodiscard]] std::string pack_text(std::span<const std::uint32_t> values, int digits);
/// Throws std::invalid_argument for a length other than count * digits and for a character that is no digit.
[[nodiscard]] std::vector<std::uint32_t> unpack_text(std::string_view text, std::size_t count, int digits);

/// Signed numbers of small magnitude as small unsigned ones: 0, -1, 1, -2, ... -> 0, 1, 2, 3, ...
[[nodiscard]] constexpr std::uint32_t zigzag(std::int32_t value) {
  return (static_cast<std::uint32_t>(value) << 1U) ^ static_cast<std::uint32_t>(value >> 31);
}
[[nodiscard]] constexpr std::int32_t unzigzag(std::uint32_t value) {
  return static_cast<std::int32_t>(value >> 1U) ^ -static_cast<std::int32_t>(value & 1U);
}

}  // namespace roofcal
