// Number formats of operands, bit by bit, alike on the host and on the device (constexpr; nvcc with
// --expt-relaxed-constexpr), so that a reference knows exactly which values a kernel read.
#pragma once

#include <bit>
#include <cstdint>

namespace roofcal::microbench {

enum class NumberFormat { float32, bfloat16, float16, fp8_e4m3, fp4_e2m1, int8, int32 };

/// Bits of an element. fp4: two share a byte, the first in the low half.
[[nodiscard]] constexpr int bits_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::float32:
    case NumberFormat::int32:
      return 32;
    case NumberFormat::bfloat16:
    case NumberFormat::float16:
      return 16;
    case NumberFormat::fp8_e4m3:
    case NumberFormat::int8:
      return 8;
    case NumberFormat::fp4_e2m1:
      break;
  }
  return 4;
}

/// A binary format with `exponent` and `mantissa` bits and a sign, of `bias`; values beyond `largest` become it. IEEE
/// 754 rounding to nearest, ties to even; subnormals. Domain: finite values.
[[nodiscard]] constexpr std::uint32_t encode_float(float value, int exponent, int mantissa, int bias, float largest) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 31;
  float magnitude = std::bit_cast<float>(bits & 0x7FFFFFFFU);
  if (magnitude > largest) magnitude = largest;
  const std::uint32_t absolute = std::bit_cast<std::uint32_t>(magnitude);
  const int unbiased = static_cast<int>(absolute >> 23) - 127;
  const int lowest = 1 - bias;  // exponent of the smallest normal number
  // The last kept bit stands for 2^quantum; dividing by it and rounding leaves whole numbers.
  const int quantum = (unbiased > lowest ? unbiased : lowest) - mantissa;
  const std::uint32_t full = unbiased == -127 ? absolute & 0x7FFFFFU : (absolute & 0x7FFFFFU) | 0x800000U;
  const int shift = quantum - ((unbiased == -127 ? -126 : unbiased) - 23);  // bits to drop
  std::uint32_t whole = 0;
  if (shift <= 0) {
    whole = full << static_cast<unsigned>(-shift);
  } else if (shift < 32) {
    const std::uint32_t half = 1U << static_cast<unsigned>(shift - 1);
    const std::uint32_t rest = full & ((half << 1U) - 1U);
    whole = full >> static_cast<unsigned>(shift);
    if (rest > half || (rest == half && (whole & 1U) != 0)) ++whole;
  }
  // A carry out of the mantissa adds one to the exponent, as the fields lie side by side.
  const int biased = quantum + mantissa + bias - 1;  // of the exponent field, whose hidden bit `whole` brings itself
  const std::uint32_t field = whole == 0 ? 0 : (static_cast<std::uint32_t>(biased) << mantissa) + whole;
  return (sign << (exponent + mantissa)) | field;
}

/// Domain: bits of a finite number.
[[nodiscard]] constexpr double decode_float(std::uint32_t bits, int exponent, int mantissa, int bias) {
  const std::uint32_t fraction = bits & ((1U << mantissa) - 1U);
  const std::uint32_t field = (bits >> mantissa) & ((1U << exponent) - 1U);
  const int power = (field == 0 ? 1 : static_cast<int>(field)) - bias - mantissa;
  double value = static_cast<double>(field == 0 ? fraction : fraction | (1U << mantissa));
  for (int i = 0; i < power; ++i) value *= 2.0;
  for (int i = 0; i > power; --i) value /= 2.0;
  return ((bits >> (exponent + mantissa)) & 1U) != 0 ? -value : value;
}

/// OCP 8-bit E4M3 has no infinities: values beyond 448 become 448. E2M1: beyond 6. float16: beyond 65504.
[[nodiscard]] constexpr std::uint32_t encode(NumberFormat format, float value) {
  switch (format) {
    case NumberFormat::float32:
      return std::bit_cast<std::uint32_t>(value);
    case NumberFormat::bfloat16:
      return encode_float(value, 8, 7, 127, 3.3895314e38F);
    case NumberFormat::float16:
      return encode_float(value, 5, 10, 15, 65504.0F);
    case NumberFormat::fp8_e4m3:
      return encode_float(value, 4, 3, 7, 448.0F);
    case NumberFormat::fp4_e2m1:
      return encode_float(value, 2, 1, 1, 6.0F);
    case NumberFormat::int8:
    case NumberFormat::int32:
      break;
  }
  const auto whole = static_cast<std::int32_t>(value < 0.0F ? value - 0.5F : value + 0.5F);
  return format == NumberFormat::int8 ? static_cast<std::uint32_t>(whole) & 0xFFU : static_cast<std::uint32_t>(whole);
}

[[nodiscard]] constexpr double decode(NumberFormat format, std::uint32_t bits) {
  switch (format) {
    case NumberFormat::float32:
      return static_cast<double>(std::bit_cast<float>(bits));
    case NumberFormat::bfloat16:
      return static_cast<double>(std::bit_cast<float>(bits << 16));
    case NumberFormat::float16:
      return decode_float(bits, 5, 10, 15);
    case NumberFormat::fp8_e4m3:
      return decode_float(bits, 4, 3, 7);
    case NumberFormat::fp4_e2m1:
      return decode_float(bits, 2, 1, 1);
    case NumberFormat::int8:
      return static_cast<double>(static_cast<std::int8_t>(bits & 0xFFU));
    case NumberFormat::int32:
      break;
  }
  return static_cast<double>(static_cast<std::int32_t>(bits));
}

}  // namespace roofcal::microbench
