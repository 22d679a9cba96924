// Number formats and quantisation schemes of an operator, under the names that the frameworks' tables use.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace roofcal {

/// Which arithmetic peak of a GPU bounds an operator.
enum class Rate { fp64, fp32, tf32, float16, bfloat16, fp8, fp4, int8 };
inline constexpr int kRateCount = 8;

[[nodiscard]] std::string_view to_string(Rate rate);

/// A scheme: how weights and activations are stored and which peak multiplies them. Outputs are 2 bytes an element
/// throughout (bfloat16 or float16), as the frameworks use them.
struct DType {
  std::string_view name;     ///< canonical, e.g. "bfloat16", "fp8_block"
  double weight_bytes;       ///< bytes a weight element, scales included
  double activation_bytes;   ///< bytes an activation element, scales included
  Rate rate;                 ///< the peak that multiplies
  std::string_view meaning;  ///< one line for --help and docs
};

/// All schemes that roofcal knows, in documentation order.
[[nodiscard]] std::span<const DType> all_dtypes();

/// Looks a scheme up by its canonical name or an alias ("bf16", "half", "fp16", "float8_e4m3fn", ...), case ignored.
/// Returns nullptr for a name that is not known.
[[nodiscard]] const DType* find_dtype(std::string_view name);

}  // namespace roofcal
