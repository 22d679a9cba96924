// What kernels should have computed, in float64 on the host, element by element, from the random data that they read.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "microbench/number_formats.h"

namespace roofcal::microbench {

/// An operand of random data: its format and seed.
struct RandomOperand {
  NumberFormat format = NumberFormat::bfloat16;
  std::uint64_t seed = 0;

  [[nodiscard]] double at(std::uint64_t index) const;
};

/// A reference value, and how far a correct kernel may lie from it.
struct Expected {
  double value = 0.0;
  double tolerance = 0.0;
};

/// The largest error of a check in units of its tolerance: at most 1 when all is well.
struct Check {
  std::size_t elements = 0;
  double worst = 0.0;       ///< |got - expected| / tolerance; infinite for NaN
  std::string worst_where;  ///< "element (3, 17): 1.25 instead of 1.5"
  [[nodiscard]] bool passed() const { return elements > 0 && worst <= 1.0; }

  void compare(double got, const Expected& expected, std::string_view where);
};

/// Number formats of a GEMM by its dtype. Errors: a dtype that this instrument has no kernel for.
struct GemmFormats {
  NumberFormat input = NumberFormat::bfloat16;
  NumberFormat output = NumberFormat::bfloat16;
  double product_error = 0.0;  ///< of a sum, relative to the sum of |a b|: rounding within multiplication and sum
};
[[nodiscard]] Result<GemmFormats> gemm_formats(std::string_view dtype);

/// Element (row, column) of activations (m x k, row-major) times weights (n x k, row-major) transposed: the TN product.
/// Tolerance: half a unit in the last place of the output, and the format's product_error of the sum of |a b|.
[[nodiscard]] Expected gemm_reference(const GemmFormats& formats, const RandomOperand& activations,
                                      const RandomOperand& weights, std::int64_t row, std::int64_t column,
                                      std::int64_t k);

/// Positions at which a result of rows x columns is checked: its corners, and others spread by `seed`; distinct, all
/// where there are no more than `most`.
struct Position {
  std::int64_t row = 0;
  std::int64_t column = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};
[[nodiscard]] std::vector<Position> checked_positions(std::int64_t rows, std::int64_t columns, std::size_t most,
                                                      std::uint64_t seed);

/// Rows of the memory kernels, from values already decoded. All of one row, in float64 until the last rounding, which
/// the tolerance covers (bfloat16: 2^-8 of the value, and `floor`).
[[nodiscard]] std::vector<Expected> rms_norm_reference(std::span<const double> row, std::span<const double> weight,
                                                       double epsilon);
[[nodiscard]] std::vector<Expected> silu_and_mul_reference(std::span<const double> gate, std::span<const double> up);
/// One head: halves x1, x2 become x1 c - x2 s, x2 c + x1 s.
[[nodiscard]] std::vector<Expected> rotary_reference(std::span<const double> head, std::span<const double> cosines,
                                                     std::span<const double> sines);
[[nodiscard]] std::vector<Expected> add_reference(std::span<const double> a, std::span<const double> b);
/// a = b + s c in float32.
[[nodiscard]] std::vector<Expected> triad_reference(std::span<const double> b, std::span<const double> c, double s);

}  // namespace roofcal::microbench
