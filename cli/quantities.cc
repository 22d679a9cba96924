#include "cli/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace roofcal::cli {
namespace {

constexpr std::size_t kMostValues = 1'000'000;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

template <class Number>
std::optional<Number> whole_text(std::string_view text) {
  Number value{};
  const auto* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return value;
}

struct Power {
  std::int64_t base = 0;
  std::int64_t exponent = 0;
};

std::optional<std::int64_t> value_of(Power power) {
  std::int64_t value = 1;
  for (std::int64_t i = 0; i < power.exponent; ++i) {
    if (value > std::numeric_limits<std::int64_t>::max() / power.base) return std::nullopt;
    value *= power.base;
  }
  return value;
}

// "2^15"; a base of 1 or less has no use and no end.
std::optional<Power> power_of(std::string_view text) {
  const auto caret = text.find('^');
  if (caret == std::string_view::npos) return std::nullopt;
  const auto base = whole_text<std::int64_t>(text.substr(0, caret));
  const auto exponent = whole_text<std::int64_t>(text.substr(caret + 1));
  if (!base || !exponent || *base < 2 || *exponent < 0) return std::nullopt;
  return Power{*base, *exponent};
}

Error not_a(std::string_view what, std::string_view text, std::string_view examples) {
  return Error{ErrorCode::usage, fmt::format("'{}' is not {} ({})", text, what, examples)};
}

constexpr std::string_view kCountExamples = "write 4096 or 2^12";
constexpr std::string_view kSizeExamples = "write 4096, 64MiB, 1GB or 2^20";
constexpr std::string_view kTimeExamples = "write 30ms, 2.5s, 800us or 5min";

struct Named {
  std::string_view name;
  double factor;
};
constexpr std::array<Named, 15> kSizeUnits{{{"B", 1.0},
                                            {"kB", 1e3},
                                            {"MB", 1e6},
                                            {"GB", 1e9},
                                            {"TB", 1e12},
                                            {"KiB", 0x1p10},
                                            {"MiB", 0x1p20},
                                            {"GiB", 0x1p30},
                                            {"TiB", 0x1p40},
                                            {"byte", 1.0},
                                            {"bytes", 1.0},
                                            {"Ki", 0x1p10},
                                            {"Mi", 0x1p20},
                                            {"Gi", 0x1p30},
                                            {"Ti", 0x1p40}}};
constexpr std::array<Named, 7> kTimeUnits{
    {{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"\u00b5s", 1e-6}, {"ns", 1e-9}, {"min", 60.0}, {"h", 3600.0}}};

// A number and the unit after it; nullopt when either does not read.
std::optional<double> with_unit(std::string_view text, std::span<const Named> units) {
  double number = 0.0;
  const auto* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || !std::isfinite(number)) return std::nullopt;
  const std::string_view unit = trimmed({stop, static_cast<std::size_t>(end - stop)});
  if (unit.empty()) return number;
  const auto found = std::ranges::find_if(units, [unit](const Named& n) { return equal_ignoring_case(n.name, unit); });
  if (found == units.end()) return std::nullopt;
  return number * found->factor;
}

using ParseOne = Result<std::int64_t> (*)(std::string_view);

Error too_many(std::string_view text) {
  return Error{ErrorCode::usage, fmt::format("'{}' has more than {} values", text, kMostValues)};
}

Result<void> append_powers(std::string_view item, Power first, Power last, std::int64_t step,
                           std::vector<std::int64_t>& out) {
  if (first.base != last.base) {
    return Error{ErrorCode::usage, fmt::format("'{}' mixes powers of {} and {}", item, first.base, last.base)};
  }
  if (last.exponent < first.exponent) {
    return Error{ErrorCode::usage, fmt::format("'{}' ends before it starts", item)};
  }
  for (Power power = first; power.exponent <= last.exponent; power.exponent += step) {
    const auto value = value_of(power);
    if (!value) return Error{ErrorCode::usage, fmt::format("'{}' exceeds 2^63 - 1", item)};
    out.push_back(*value);
  }
  return {};
}

Result<void> append_range(std::string_view item, std::int64_t first, std::int64_t last, std::int64_t step,
                          std::vector<std::int64_t>& out) {
  if (last < first) {
    return Error{ErrorCode::usage, fmt::format("'{}' ends before it starts", item)};
  }
  const auto span = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  const std::uint64_t steps = span / static_cast<std::uint64_t>(step);
  if (steps >= kMostValues) return too_many(item);
  for (std::uint64_t i = 0; i <= steps; ++i) {
    out.push_back(first + static_cast<std::int64_t>(i * static_cast<std::uint64_t>(step)));
  }
  return {};
}

// One item of a list: a quantity or a range of them.
Result<void> append_item(std::string_view item, ParseOne parse, std::vector<std::int64_t>& out) {
  const auto colon = item.find(':');
  if (colon == std::string_view::npos) {
    const auto value = parse(item);
    if (!value) return value.error();
    out.push_back(*value);
    return {};
  }
  const auto second = item.find(':', colon + 1);
  const std::string_view first_text = trimmed(item.substr(0, colon));
  const std::string_view last_text = trimmed(item.substr(colon + 1, second - colon - 1));
  std::int64_t step = 1;
  if (second != std::string_view::npos) {
    const auto parsed = parse(trimmed(item.substr(second + 1)));
    if (!parsed) return parsed.error();
    if (*parsed < 1) return Error{ErrorCode::usage, fmt::format("the step of '{}' is not 1 or more", item)};
    step = *parsed;
  }
  const auto first_power = power_of(first_text);
  const auto last_power = power_of(last_text);
  if (first_power && last_power) return append_powers(item, *first_power, *last_power, step, out);
  const auto first = parse(first_text);
  if (!first) return first.error();
  const auto last = parse(last_text);
  if (!last) return last.error();
  return append_range(item, *first, *last, step, out);
}

Result<std::vector<std::int64_t>> parse_list(std::string_view text, ParseOne parse) {
  std::vector<std::int64_t> out;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const auto done = append_item(trimmed(text.substr(start, comma - start)), parse, out);
    if (!done) return done.error();
    if (out.size() > kMostValues) return too_many(text);
    start = comma + 1;
  }
  return out;
}

}  // namespace

Result<std::int64_t> parse_count(std::string_view text) {
  const std::string_view plain = trimmed(text);
  if (const auto value = whole_text<std::int64_t>(plain)) return *value;
  if (const auto power = power_of(plain)) {
    if (const auto value = value_of(*power)) return *value;
  }
  return not_a("a whole number", text, kCountExamples);
}

Result<std::int64_t> parse_size(std::string_view text) {
  const std::string_view plain = trimmed(text);
  if (const auto count = parse_count(plain)) {
    if (*count < 0) return not_a("a size", text, kSizeExamples);
    return *count;
  }
  const auto bytes = with_unit(plain, kSizeUnits);
  if (!bytes || *bytes < 0.0 || *bytes >= 0x1p63 || *bytes != std::floor(*bytes)) {
    return not_a("a size", text, kSizeExamples);
  }
  return static_cast<std::int64_t>(*bytes);
}

Result<Seconds> parse_time(std::string_view text) {
  const auto seconds = with_unit(trimmed(text), kTimeUnits);
  if (!seconds || *seconds < 0.0) return not_a("a time", text, kTimeExamples);
  return Seconds(*seconds);
}

Result<std::vector<std::int64_t>> parse_counts(std::string_view text) { return parse_list(text, &parse_count); }
Result<std::vector<std::int64_t>> parse_sizes(std::string_view text) { return parse_list(text, &parse_size); }

}  // namespace roofcal::cli
