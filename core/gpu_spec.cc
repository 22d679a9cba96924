#include "core/gpu_spec.h"

#include <cctype>

namespace roofcal {

std::string normalised_gpu_name(std::string_view name) {
  std::string out;
  for (const unsigned char c : name) {
    if (std::isalnum(c) != 0) {
      out.push_back(static_cast<char>(std::tolower(c)));
    }
  }
  return out;
}

}  // namespace roofcal
