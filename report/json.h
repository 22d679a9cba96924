// Reports as JSON: keys in the order of the columns, doubles in full precision.
#pragma once

#include <nlohmann/json.hpp>

#include "report/report.h"

namespace roofcal::report {

[[nodiscard]] nlohmann::ordered_json to_json(const Value& value);
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<Column>& columns, const Record& record);
/// An object for a single record, an object around the list where the report names one, else an array.
[[nodiscard]] nlohmann::ordered_json to_json(const Report& report);

/// Bytes that are no UTF-8 (a file's name, say) print as U+FFFD rather than making the document invalid.
[[nodiscard]] std::string dumped(const nlohmann::ordered_json& json, int indent);

}  // namespace roofcal::report
