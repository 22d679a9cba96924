// An operator's fields as a user writes them: numbers, sizes with units, lists and ranges, or a field's own words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/operator.h"

namespace roofcal::cli {

/// "kv-heads" as a flag, "kv_heads" as a column or key.
[[nodiscard]] std::string flag_name(std::string_view field);
[[nodiscard]] std::string column_name(std::string_view field);

/// Whether a field counts bytes, so that its text may carry a unit: one of the words of its name is "bytes".
[[nodiscard]] bool is_size(const Field& field);

/// One value within the field's domain. Errors: usage, naming field and text.
[[nodiscard]] Result<std::int64_t> field_value(const Field& field, std::string_view text);
/// All values of a list, a range or powers.
[[nodiscard]] Result<std::vector<std::int64_t>> field_values(const Field& field, std::string_view text);

}  // namespace roofcal::cli
