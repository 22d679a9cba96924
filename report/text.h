// Values as text.
#pragma once

#include <string>
#include <string_view>

#include "report/report.h"

namespace roofcal::report {

/// For people: four significant digits and a unit that fits ("812.4 us", "676.7 TFLOP/s", "68.4 %").
[[nodiscard]] std::string scaled(double value, Unit unit);

/// A cell of a table. Lists of strings are joined by "; ", objects print as "key value, key value"; lists of records
/// have no text.
[[nodiscard]] std::string for_people(const Value& value, Unit unit);

/// A cell for programs: numbers in the fewest digits that read back to the same double; unknown is empty.
[[nodiscard]] std::string for_programs(const Value& value);

/// A csv cell, quoted where it has to be (RFC 4180).
[[nodiscard]] std::string csv_quoted(std::string_view text);

/// How many columns of a terminal a text takes: its UTF-8 code points.
[[nodiscard]] std::size_t width(std::string_view text);

}  // namespace roofcal::report
