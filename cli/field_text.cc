#include "cli/field_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/options.h"
#include "cli/quantities.h"

namespace roofcal::cli {
namespace {

Error about(const Field& field, const Error& error) {
  return Error{error.code, fmt::format("{}: {}", field.name, error.message)};
}

}  // namespace

std::string flag_name(std::string_view field) {
  std::string out(field);
  std::ranges::replace(out, '_', '-');
  return out;
}

std::string column_name(std::string_view field) {
  std::string out(field);
  std::ranges::replace(out, '-', '_');
  return out;
}

bool is_size(const Field& field) {
  const std::string name = "_" + column_name(field.name) + "_";
  return name.find("_bytes_") != std::string::npos;
}

Result<std::int64_t> field_value(const Field& field, std::string_view text) {
  if (field.parse != nullptr) return parse_field(field, text);
  const auto value = is_size(field) ? parse_size(text) : parse_count(text);
  if (!value) return about(field, value.error());
  return parse_field(field, std::to_string(*value));
}

Result<std::vector<std::int64_t>> field_values(const Field& field, std::string_view text) {
  std::vector<std::int64_t> out;
  if (field.parse != nullptr) {
    for (const std::string& item : split_list(text)) {
      const auto value = parse_field(field, item);
      if (!value) return value.error();
      out.push_back(*value);
    }
    return out;
  }
  const auto values = is_size(field) ? parse_sizes(text) : parse_counts(text);
  if (!values) return about(field, values.error());
  for (const std::int64_t value : *values) {
    const auto checked = parse_field(field, std::to_string(value));
    if (!checked) return checked.error();
    out.push_back(*checked);
  }
  return out;
}

}  // namespace roofcal::cli
