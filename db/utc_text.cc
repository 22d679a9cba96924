#include "db/utc_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace roofcal {

std::string now_utc_text() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

bool is_utc_text(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto fits = [&](char c, char wanted) { return wanted == 'd' ? is_digit(c) : c == wanted; };
  if (text.size() < form.size() ||
      !std::equal(form.begin(), form.end(), text.begin(), [&](char wanted, char c) { return fits(c, wanted); })) {
    return false;
  }
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    for (const char c : text.substr(at, digits)) value = value * 10 + (c - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  // Second 60 is a leap second's.
  if (!date.ok() || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 60) return false;
  std::string_view rest = text.substr(form.size());
  if (rest.starts_with('.')) {
    const auto end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    if (end == 1) return false;
    rest.remove_prefix(end);
  }
  return rest == "Z";
}

}  // namespace roofcal
