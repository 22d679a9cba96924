// Checked reading of our own JSON: every helper throws std::invalid_argument with a message that names the member, and
// from_json functions turn that (and the JSON library's own exceptions) into an Error. Nothing else here throws.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roofcal {

/// Throws std::invalid_argument(message) unless `condition` holds.
void require(bool condition, std::string_view message);

[[nodiscard]] const nlohmann::json& member(const nlohmann::json& object, const char* name);
/// A finite number within [lo, hi].
[[nodiscard]] double read_number(const nlohmann::json& object, const char* name, double lo, double hi);
[[nodiscard]] std::int64_t read_integer(const nlohmann::json& object, const char* name, std::int64_t lo,
                                        std::int64_t hi);
[[nodiscard]] bool read_bool(const nlohmann::json& object, const char* name);
[[nodiscard]] std::string read_string(const nlohmann::json& object, const char* name);
/// Finite numbers; `size` of them where it is not negative.
[[nodiscard]] std::vector<double> read_numbers(const nlohmann::json& object, const char* name, std::int64_t size = -1);

/// Runs `read`; what it throws becomes an Error (bad_data).
template <class Read>
[[nodiscard]] auto guarded(Read&& read) -> Result<std::invoke_result_t<Read>> {
  try {
    return read();
  } catch (const std::invalid_argument& error) {
    return Error{ErrorCode::bad_data, error.what()};
  } catch (const nlohmann::json::exception& error) {
    return Error{ErrorCode::bad_data, error.what()};
  }
}

}  // namespace roofcal
