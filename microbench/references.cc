#include "microbench/references.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "microbench/random_data.h"

namespace roofcal::microbench {
namespace {

// Largest relative error of rounding to a format.
double unit_roundoff(NumberFormat format) {
  switch (format) {
    case NumberFormat::bfloat16:
      return 0x1p-8;
    case NumberFormat::float16:
      return 0x1p-11;
    case NumberFormat::float32:
      return 0x1p-24;
    case NumberFormat::fp8_e4m3:
      return 0x1p-4;
    case NumberFormat::fp4_e2m1:
      return 0x1p-2;
    case NumberFormat::int8:
    case NumberFormat::int32:
      break;
  }
  return 0.0;
}

constexpr double kFloatError = 0x1p-18;  // of a few float32 operations with fast intrinsics

// A bfloat16 result computed in float32.
Expected rounded(double value, double scale) { return {value, 0x1p-8 * std::abs(value) + kFloatError * scale}; }

struct NamedFormats {
  std::string_view dtype;
  GemmFormats formats;
};

// product_error: exact products summed in float32 for 16-bit inputs, where the order is unknown; tf32 rounds each input
// to 11 bits; tensor cores sum 8- and 4-bit products with 14 bits or more on Hopper (DeepSeek-V3 report, 3.3.2).
constexpr std::array<NamedFormats, 9> kGemmFormats{
    {{"float32", {NumberFormat::float32, NumberFormat::float32, 0x1p-18}},
     {"tf32", {NumberFormat::float32, NumberFormat::float32, 0x1p-9}},
     {"float16", {NumberFormat::float16, NumberFormat::float16, 0x1p-16}},
     {"bfloat16", {NumberFormat::bfloat16, NumberFormat::bfloat16, 0x1p-16}},
     {"fp8", {NumberFormat::fp8_e4m3, NumberFormat::bfloat16, 0x1p-11}},
     {"fp8_block", {NumberFormat::fp8_e4m3, NumberFormat::bfloat16, 0x1p-11}},
     {"mxfp8", {NumberFormat::fp8_e4m3, NumberFormat::bfloat16, 0x1p-11}},
     {"nvfp4", {NumberFormat::fp4_e2m1, NumberFormat::bfloat16, 0x1p-11}},
     {"int8", {NumberFormat::int8, NumberFormat::int32, 0.0}}}};

}  // namespace

double RandomOperand::at(std::uint64_t index) const { return decode(format, random_bits(format, seed, index)); }

void Check::compare(double got, const Expected& expected, std::string_view where) {
  ++elements;
  const double off = std::abs(got - expected.value);
  double share = off / expected.tolerance;
  if (off == 0.0) share = 0.0;  // exact where nothing may be off
  if (std::isnan(off)) share = std::numeric_limits<double>::infinity();
  if (elements == 1 || share > worst) {
    worst = share;
    worst_where = fmt::format("{}: {:.6g} instead of {:.6g}", where, got, expected.value);
  }
}

Result<GemmFormats> gemm_formats(std::string_view dtype) {
  const auto* found = std::ranges::find(kGemmFormats, dtype, &NamedFormats::dtype);
  if (found != kGemmFormats.end()) return found->formats;
  std::vector<std::string_view> names;
  for (const NamedFormats& one : kGemmFormats) names.push_back(one.dtype);
  return Error{ErrorCode::usage,
               fmt::format("a GEMM in {} cannot be measured; there is {}", dtype, fmt::join(names, ", "))};
}

Expected gemm_reference(const GemmFormats& formats, const RandomOperand& activations, const RandomOperand& weights,
                        std::int64_t row, std::int64_t column, std::int64_t k) {
  double sum = 0.0;
  double magnitude = 0.0;
  const auto a = static_cast<std::uint64_t>(row * k);
  const auto b = static_cast<std::uint64_t>(column * k);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(k); ++i) {
    const double product = activations.at(a + i) * weights.at(b + i);
    sum += product;
    magnitude += std::abs(product);
  }
  return {sum, unit_roundoff(formats.output) * std::abs(sum) + formats.product_error * magnitude};
}

std::vector<Position> checked_positions(std::int64_t rows, std::int64_t columns, std::size_t most, std::uint64_t seed) {
  std::set<Position> out;
  if (rows <= static_cast<std::int64_t>(most) / columns) {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) out.insert({row, column});
    }
    return {out.begin(), out.end()};
  }
  for (const std::int64_t row : {std::int64_t{0}, rows - 1}) {
    for (const std::int64_t column : {std::int64_t{0}, columns - 1}) out.insert({row, column});
  }
  for (std::uint64_t i = 0; out.size() < most; ++i) {
    out.insert({static_cast<std::int64_t>(hash_of(seed, 2 * i) % static_cast<std::uint64_t>(rows)),
                static_cast<std::int64_t>(hash_of(seed, 2 * i + 1) % static_cast<std::uint64_t>(columns))});
  }
  return {out.begin(), out.end()};
}

std::vector<Expected> rms_norm_reference(std::span<const double> row, std::span<const double> weight, double epsilon) {
  double squares = 0.0;
  for (const double x : row) squares += x * x;
  const double scale = 1.0 / std::sqrt(squares / static_cast<double>(row.size()) + epsilon);
  std::vector<Expected> out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double value = row[i] * scale * weight[i];
    out.push_back(rounded(value, std::abs(value)));
  }
  return out;
}

std::vector<Expected> silu_and_mul_reference(std::span<const double> gate, std::span<const double> up) {
  std::vector<Expected> out;
  for (std::size_t i = 0; i < gate.size(); ++i) {
    const double value = gate[i] / (1.0 + std::exp(-gate[i])) * up[i];
    out.push_back(rounded(value, std::abs(value)));
  }
  return out;
}

std::vector<Expected> rotary_reference(std::span<const double> head, std::span<const double> cosines,
                                       std::span<const double> sines) {
  const std::size_t half = head.size() / 2;
  std::vector<Expected> out(head.size());
  for (std::size_t i = 0; i < half; ++i) {
    const double a = head[i];
    const double b = head[half + i];
    const double scale = std::abs(a) + std::abs(b);
    out[i] = rounded(a * cosines[i] - b * sines[i], scale);
    out[half + i] = rounded(b * cosines[i] + a * sines[i], scale);
  }
  return out;
}

std::vector<Expected> add_reference(std::span<const double> a, std::span<const double> b) {
  std::vector<Expected> out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(rounded(a[i] + b[i], std::abs(a[i]) + std::abs(b[i])));
  return out;
}

std::vector<Expected> triad_reference(std::span<const double> b, std::span<const double> c, double s) {
  std::vector<Expected> out;
  for (std::size_t i = 0; i < b.size(); ++i) {
    out.push_back({b[i] + s * c[i], 0x1p-22 * (std::abs(b[i]) + std::abs(s * c[i]))});
  }
  return out;
}

}  // namespace roofcal::microbench
