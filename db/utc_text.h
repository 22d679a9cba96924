// Times as the store holds them: UTC, ISO 8601, "2026-12-01T14:00:00Z".
#pragma once

#include <string>
#include <string_view>

namespace roofcal {

[[nodiscard]] std::string now_utc_text();

/// Whether a text is such a time: a date of the calendar and a time of day, seconds with or without a fraction.
[[nodiscard]] bool is_utc_text(std::string_view text);

}  // namespace roofcal
