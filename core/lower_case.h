#pragma once

#include <string>
#include <string_view>

namespace roofcal {

/// With the letters A to Z made small.
[[nodiscard]] std::string lower_case(std::string_view text);

}  // namespace roofcal
