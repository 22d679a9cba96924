// Files that are no part of this repository.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace roofcal::models {

/// Below $ROOFCAL_DATA, there or not.
inline std::filesystem::path data_path(std::string_view below) {
  const char* given = std::getenv("ROOFCAL_DATA");
  return std::filesystem::path(given != nullptr ? given : "/nowhere") / below;
}

}  // namespace roofcal::models
