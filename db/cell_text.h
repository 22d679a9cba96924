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

[[nodiscard]] std::string real_text(double value);

}  // namespace roofcal
