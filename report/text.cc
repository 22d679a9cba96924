#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace roofcal::report {
namespace {

struct Scale {
  double factor;
  std::string_view unit;
};

constexpr std::array<Scale, 4> kSeconds{{{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
constexpr std::array<Scale, 5> kBytes{{{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1.0, "B"}}};
constexpr std::array<Scale, 2> kDecimalBytes{{{1e12, "TB"}, {1e9, "GB"}}};
constexpr std::array<Scale, 4> kBandwidth{{{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1.0, "B/s"}}};
constexpr std::array<Scale, 4> kFlops{{{1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}, {1.0, "FLOP/s"}}};
constexpr std::array<Scale, 3> kHertz{{{1e9, "GHz"}, {1e6, "MHz"}, {1.0, "Hz"}}};
constexpr std::array<Scale, 1> kWatts{{{1.0, "W"}}};

// From here on, four significant digits round up to the next power of ten.
constexpr double kRoundsUp = 1.0 + 5e-5;

// Four significant digits, never in exponent form below a million.
std::string significant(double value) {
  const double size = std::abs(value);
  if (size == 0.0) return "0";
  if (size >= 1e6 || size < 1e-3) return fmt::format("{:.4g}", value);
  return fmt::format("{:.{}f}", value, std::max(0, 3 - static_cast<int>(std::floor(std::log10(size * kRoundsUp)))));
}

// The largest unit that leaves at least one whole digit.
std::string in_unit(double value, std::span<const Scale> scales) {
  const double size = std::abs(value) * kRoundsUp;
  const Scale* chosen = &scales.back();
  for (const Scale& scale : scales) {
    if (size >= scale.factor) {
      chosen = &scale;
      break;
    }
  }
  if (value == 0.0) chosen = &*std::ranges::find(scales, 1.0, &Scale::factor);
  return significant(value / chosen->factor) + " " + std::string(chosen->unit);
}

// Drops the zeros of "4.000": for sizes of memory and caches, which are round by design.
std::string trimmed(std::string text) {
  const auto space = text.find(' ');
  std::string number = text.substr(0, space);
  if (number.find('.') != std::string::npos) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.ends_with('.')) number.pop_back();
  }
  return number + text.substr(space);
}

// Memory is sold in GB, caches come in MiB: whichever unit makes the number round.
bool is_decimal_size(double value) { return value >= 1e9 && std::fmod(value, 1e8) == 0.0; }

struct PeopleText {
  Unit unit;
  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(std::int64_t value) const {
    return unit == Unit::none ? std::to_string(value) : scaled(static_cast<double>(value), unit);
  }
  std::string operator()(double value) const { return std::isfinite(value) ? scaled(value, unit) : "-"; }
  std::string operator()(const std::string& value) const { return value.empty() ? "-" : value; }
  std::string operator()(const std::vector<std::string>& value) const {
    return value.empty() ? "-" : fmt::format("{}", fmt::join(value, "; "));
  }
  std::string operator()(const std::shared_ptr<const Object>& value) const {
    std::string out;
    for (std::size_t i = 0; i < value->columns.size(); ++i) {
      out +=
          (i == 0 ? "" : ", ") + value->columns[i].title + " " + for_people(value->values[i], value->columns[i].unit);
    }
    return out.empty() ? "-" : out;
  }
  std::string operator()(const std::shared_ptr<const Report>& /*value*/) const { return ""; }
};

struct ProgramText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const std::vector<std::string>& value) const {
    return fmt::format("{}", fmt::join(value, "; "));
  }
  std::string operator()(const std::shared_ptr<const Object>& value) const {
    std::string out;
    for (std::size_t i = 0; i < value->columns.size(); ++i) {
      out += (i == 0 ? "" : ";") + value->columns[i].key + "=" + for_programs(value->values[i]);
    }
    return out;
  }
  std::string operator()(const std::shared_ptr<const Report>& /*value*/) const { return ""; }
};

}  // namespace

std::string scaled(double value, Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return in_unit(value, kSeconds);
    case Unit::bytes:
      return trimmed(is_decimal_size(value) ? in_unit(value, kDecimalBytes) : in_unit(value, kBytes));
    case Unit::bytes_per_second:
      return in_unit(value, kBandwidth);
    case Unit::flops_per_second:
      return in_unit(value, kFlops);
    case Unit::hertz:
      return in_unit(value, kHertz);
    case Unit::watts:
      return trimmed(in_unit(value, kWatts));
    case Unit::fraction:
      return fmt::format("{:.{}f} %", 100.0 * value, std::abs(value) < 0.0995 ? 2 : 1);
    case Unit::none:
      break;
  }
  return significant(value);
}

std::string for_people(const Value& value, Unit unit) { return std::visit(PeopleText{unit}, value); }

std::string for_programs(const Value& value) { return std::visit(ProgramText{}, value); }

std::string csv_quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace roofcal::report
