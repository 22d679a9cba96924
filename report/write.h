// Output formats by name, and a report in each of them.
#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string_view>

#include "report/report.h"

namespace roofcal::report {

enum class Format { table, json, jsonl, csv, md };

/// Names in the order of the enumerators.
[[nodiscard]] std::span<const std::string_view> format_names();
[[nodiscard]] std::optional<Format> parse_format(std::string_view name);

/// Writes a whole report. json ends with a newline; csv lines end with "\n".
void write(const Report& report, Format format, std::ostream& out);

}  // namespace roofcal::report
