#include "core/operator.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/dtype.h"
#include "core/spelling.h"

namespace roofcal {
namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

Result<std::string> parse_attribute(const AttributeField& attribute, std::string_view text) {
  if (auto value = attribute.canonical(text)) {
    return *std::move(value);
  }
  std::vector<std::string> known;
  if (attribute.canonical == &canonical_dtype) {
    for (const DType& dtype : all_dtypes()) known.emplace_back(dtype.name);
  }
  return Error{ErrorCode::usage, std::string(attribute.name) + " " + quoted(text) + " is not known (" +
                                     std::string(attribute.help) + ")" + did_you_mean(text, known)};
}

}  // namespace

Shape::Shape(std::initializer_list<std::int64_t> values) : size_(values.size()) {
  std::ranges::copy(values, values_.begin());
}

std::optional<std::string> canonical_dtype(std::string_view text) {
  const DType* dtype = find_dtype(text);
  return dtype == nullptr ? std::nullopt : std::optional<std::string>(dtype->name);
}

std::string_view to_string(CacheMode mode) { return mode == CacheMode::hot ? "hot" : "cold"; }

std::optional<CacheMode> parse_cache_mode(std::string_view text) {
  if (text == "hot") return CacheMode::hot;
  if (text == "cold") return CacheMode::cold;
  return std::nullopt;
}

Result<void> Operator::check(const Attributes& /*attributes*/, const Shape& /*shape*/) const { return {}; }

std::string print_field(const Field& field, std::int64_t value) {
  return field.print != nullptr ? field.print(value) : std::to_string(value);
}

Result<std::int64_t> parse_field(const Field& field, std::string_view text) {
  std::int64_t value = 0;
  if (field.parse != nullptr) {
    const auto parsed = field.parse(text);
    if (!parsed) {
      return Error{ErrorCode::usage,
                   std::string(field.name) + " " + quoted(text) + " is not known (" + std::string(field.help) + ")"};
    }
    value = *parsed;
  } else {
    const auto* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, value);
    if (failure != std::errc{} || stop != end) {
      return Error{ErrorCode::usage, std::string(field.name) + " " + quoted(text) + " is not a whole number"};
    }
  }
  if (value < field.min || value > field.max) {
    return Error{ErrorCode::usage, std::string(field.name) + " " + print_field(field, value) + " is outside " +
                                       print_field(field, field.min) + " .. " + print_field(field, field.max)};
  }
  return value;
}

Result<Call> parse_call(const Operator& op, const Cells& cells) {
  Call call{{}, Shape(op.fields().size())};
  for (std::size_t i = 0; i < op.fields().size(); ++i) {
    const Field& field = op.fields()[i];
    const auto text = cells(field.name);
    if (!text || text->empty()) {
      if (!field.fallback) {
        return Error{ErrorCode::usage, std::string(op.name()) + " needs " + std::string(field.name) + " (" +
                                           std::string(field.help) + ")"};
      }
      call.shape[i] = *field.fallback;
      continue;
    }
    const auto value = parse_field(field, *text);
    if (!value) {
      return value.error();
    }
    call.shape[i] = *value;
  }
  for (const AttributeField& attribute : op.attributes()) {
    auto text = cells(attribute.name).value_or("");
    if (text.empty()) {
      text = attribute.fallback;
      if (text.starts_with('=')) {
        text = call.attributes.find(text.substr(1))->second;  // an operator lists the attribute it refers to first
      }
    }
    if (text.empty()) {
      return Error{ErrorCode::usage, std::string(op.name()) + " needs " + std::string(attribute.name) + " (" +
                                         std::string(attribute.help) + ")"};
    }
    auto value = parse_attribute(attribute, text);
    if (!value) {
      return value.error();
    }
    call.attributes.emplace(attribute.name, *std::move(value));
  }
  if (const auto legal = op.check(call.attributes, call.shape); !legal) {
    return legal.error();
  }
  return call;
}

}  // namespace roofcal
