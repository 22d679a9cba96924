#include "db/cell_text.h"

#include <fmt/format.h>

#include <charconv>

namespace roofcal {
namespace {

template <class T>
std::optional<T> parse(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  return failure == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<double> parse_real(std::string_view text) { return parse<double>(text); }
std::optional<std::int64_t> parse_integer(std::string_view text) { return parse<std::int64_t>(text); }
std::string real_text(double value) { return fmt::format("{}", value); }

}  // namespace roofcal
