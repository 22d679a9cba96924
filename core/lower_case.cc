#include "core/lower_case.h"

#include <algorithm>
#include <cctype>

namespace roofcal {

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace roofcal
