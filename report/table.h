// Reports for people: a card for one record, a grid for several, Markdown.
#pragma once

#include <string>

#include "report/report.h"

namespace roofcal::report {

/// One line a column, lists of records as small grids below.
[[nodiscard]] std::string card(const Report& report);
/// Aligned columns: numbers to the right, text to the left. Columns without any value are left out.
[[nodiscard]] std::string grid(const Report& report);
enum class EmptyColumns { drop, keep };
/// `keep` prints columns without values too: for tables that are written in parts.
[[nodiscard]] std::string markdown(const Report& report, EmptyColumns empty = EmptyColumns::drop);

}  // namespace roofcal::report
