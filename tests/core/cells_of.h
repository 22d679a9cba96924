// A row of a table for tests: column -> text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/operator.h"

namespace roofcal {

inline Cells cells_of(std::map<std::string, std::string, std::less<>> row) {
  return [row = std::move(row)](std::string_view column) -> std::optional<std::string_view> {
    const auto found = row.find(column);
    return found == row.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  };
}

}  // namespace roofcal
