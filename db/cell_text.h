// Numbers as cells of a table hold them: the shortest text that reads back as the same number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roofcal {

/// The whole cell is one number ("nan" and "inf" are); nullopt otherwise.
[[nodiscard]] std::optional<double> parse_real(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// No operator runs longer than a day: what a table says beyond is a slip of units or a broken number.
inline constexpr double kLongestTimeSeconds = 86400.0;

[[nodiscard]] std::string real_text(double value);

}  // namespace roofcal
