#include "db/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace roofcal {
namespace {

using nlohmann::json;

template <class Map>
Result<void> read_object(std::string_view text, Map& values) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return Error{ErrorCode::bad_data, fmt::format("'{}' is not a JSON object", text)};
  values.clear();
  for (const auto& [name, value] : object.items()) {
    using Value = typename Map::mapped_type;
    const bool fits = std::is_same_v<Value, std::string>    ? value.is_string()
                      : std::is_same_v<Value, std::int64_t> ? value.is_number_integer()
                                                            : value.is_number();
    if (value.is_string() && value.template get_ref<const std::string&>().find('\0') != std::string::npos) {
      return Error{ErrorCode::bad_data, fmt::format("{} holds a NUL byte", name)};  // which SQLite keeps badly
    }
    if (!fits) return Error{ErrorCode::bad_data, fmt::format("{} {} is of another kind", name, value.dump())};
    values.emplace(name, value.template get<Value>());
  }
  return {};
}

// A text as JSON. Most are plain words, which need no look by the library.
void append_json(std::string& out, std::string_view text) {
  const auto plain = [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, plain)) {
    out.push_back('"');
    out.append(text);
    out.push_back('"');
  } else {
    out += json(text).dump();
  }
}

template <class Texts>
std::string object_of(const Texts& values) {
  std::string out = "{";
  for (const auto& [name, value] : values) {
    if (out.size() > 1) out.push_back(',');
    append_json(out, name);
    out.push_back(':');
    append_json(out, value);
  }
  out.push_back('}');
  return out;
}

}  // namespace

bool is_utf8(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return true;
  try {
    // The library checks what it writes, and has no other way to say so.
    (void)json(text).dump();
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

std::string json_text(const Attributes& values) { return object_of(values); }
std::string json_text(const std::map<std::string, std::string>& values) { return object_of(values); }
std::string json_text(const std::map<std::string, double>& values) {
  return values.empty() ? "{}" : json(values).dump();
}
std::string json_text(const std::map<std::string, std::int64_t>& values) {
  return values.empty() ? "{}" : json(values).dump();
}

Result<void> read_json(std::string_view text, Attributes& values) { return read_object(text, values); }
Result<void> read_json(std::string_view text, std::map<std::string, std::string>& values) {
  return read_object(text, values);
}
Result<void> read_json(std::string_view text, std::map<std::string, double>& values) {
  return read_object(text, values);
}
Result<void> read_json(std::string_view text, std::map<std::string, std::int64_t>& values) {
  return read_object(text, values);
}

ShapeText::ShapeText(const Operator& op) : op_(&op) {
  for (const Field& field : op.fields()) {
    names_.push_back((names_.empty() ? "{" : ",") + json(field.name).dump() + ":");
  }
}

std::string ShapeText::write(const Shape& shape) const {
  std::string out;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const Field& field = op_->fields()[i];
    out += names_[i];
    if (field.print != nullptr) {
      out += json(field.print(shape[i])).dump();
    } else {
      const fmt::format_int number(shape[i]);
      out.append(number.data(), number.size());
    }
  }
  return out + "}";
}

Result<Shape> ShapeText::read(std::string_view text) const {
  // What write() made is read as it was written; a text of another version goes through the parser.
  Shape shape(names_.size());
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < names_.size() && at != nullptr; ++i) {
    const bool here = std::string_view(at, static_cast<std::size_t>(end - at)).starts_with(names_[i]);
    const auto [stop, failure] = here && op_->fields()[i].print == nullptr
                                     ? std::from_chars(at + names_[i].size(), end, shape[i])
                                     : std::from_chars_result{at, std::errc::invalid_argument};
    const Field& field = op_->fields()[i];
    at = failure == std::errc{} && shape[i] >= field.min && shape[i] <= field.max ? stop : nullptr;
  }
  if (at != nullptr && std::string_view(at, static_cast<std::size_t>(end - at)) == "}") return shape;

  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return Error{ErrorCode::bad_data, fmt::format("shape '{}' is not a JSON object", text)};
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const Field& field = op_->fields()[i];
    const auto found = object.find(std::string(field.name));
    if (found == object.end()) {
      if (!field.fallback) return Error{ErrorCode::bad_data, fmt::format("shape {} has no {}", text, field.name)};
      shape[i] = *field.fallback;
      continue;
    }
    const auto value = parse_field(field, found->is_string() ? found->get<std::string>() : found->dump());
    if (!value) return Error{ErrorCode::bad_data, fmt::format("shape {}: {}", text, value.error().message)};
    shape[i] = *value;
  }
  return shape;
}

}  // namespace roofcal
