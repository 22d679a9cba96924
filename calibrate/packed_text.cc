#include "calibrate/packed_text.h"

#include <array>
#include <stdexcept>

namespace roofcal {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 255;

constexpr std::array<std::uint8_t, 256> kValueOf = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    table[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

}  // namespace

std::string pack_text(std::span<const std::uint32_t> values, int digits) {
  std::string text;
  text.reserve(values.size() * static_cast<std::size_t>(digits));
  for (int digit = 0; digit < digits; ++digit) {
    for (const std::uint32_t value : values) {
      text.push_back(kDigits[value >> (6 * digit) & 63U]);
    }
  }
  return text;
}

std::vector<std::uint32_t> unpack_text(std::string_view text, std::size_t count, int digits) {
  if (text.size() != count * static_cast<std::size_t>(digits)) {
    throw std::invalid_argument("a packed array of " + std::to_string(text.size()) + " characters where " +
                                std::to_string(count) + " numbers of " + std::to_string(digits) + " digits belong");
  }
  std::vector<std::uint32_t> values(count, 0);
  std::size_t at = 0;
  for (int digit = 0; digit < digits; ++digit) {
    for (std::uint32_t& value : values) {
      const std::uint8_t part = kValueOf[static_cast<unsigned char>(text[at++])];
      if (part == kNoDigit) throw std::invalid_argument("a packed array with a character that is no digit");
      value |= static_cast<std::uint32_t>(part) << (6 * digit);
    }
  }
  return values;
}

}  // namespace roofcal
