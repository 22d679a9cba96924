#include "predictor/models/config_fields.h"

#include <fmt/format.h>

namespace roofcal::models {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 30;  // products of two still fit

const nlohmann::json* find_in(const nlohmann::json& object, ConfigFields::Names names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found != object.end() && !found->is_null()) return &*found;
  }
  return nullptr;
}

std::optional<std::int64_t> whole(const nlohmann::json& value, std::int64_t least) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (!(number >= static_cast<double>(least) && number <= static_cast<double>(kMost))) return std::nullopt;
  const auto out = static_cast<std::int64_t>(number);
  if (static_cast<double>(out) != number) return std::nullopt;
  return out;
}

}  // namespace

const nlohmann::json* ConfigFields::find(Names names) const { return find_in(text_, names); }

const nlohmann::json* ConfigFields::find_anywhere(Names names) const {
  const nlohmann::json* inner = find_in(text_, names);
  return inner != nullptr ? inner : find_in(outer_, names);
}

bool ConfigFields::names_null(const char* name) const {
  const auto found = text_.find(name);
  return found != text_.end() && found->is_null();
}

std::int64_t ConfigFields::count(Names names, std::optional<std::int64_t> fallback) {
  const nlohmann::json* found = find(names);
  if (found == nullptr) {
    if (fallback) return *fallback;
    lacks(*names.begin());
    return 1;
  }
  const auto value = whole(*found, 1);
  if (!value) {
    complain(fmt::format("{} is {}, which is no whole number from 1 to 2^30", *names.begin(), found->dump()));
    return 1;
  }
  return *value;
}

std::int64_t ConfigFields::count_or_zero(Names names, std::int64_t fallback) {
  const nlohmann::json* found = find(names);
  if (found == nullptr) return fallback;
  const auto value = whole(*found, 0);
  if (!value) {
    complain(fmt::format("{} is {}, which is no whole number", *names.begin(), found->dump()));
    return fallback;
  }
  return *value;
}

bool ConfigFields::flag(Names names, bool fallback) {
  const nlohmann::json* found = find(names);
  if (found == nullptr) return fallback;
  if (!found->is_boolean()) {
    complain(fmt::format("{} is {}, which is neither true nor false", *names.begin(), found->dump()));
    return fallback;
  }
  return found->get<bool>();
}

std::string ConfigFields::text(Names names, std::string fallback) {
  const nlohmann::json* found = find(names);
  if (found == nullptr) return fallback;
  if (!found->is_string()) {
    complain(fmt::format("{} is {}, which is no text", *names.begin(), found->dump()));
    return fallback;
  }
  return found->get<std::string>();
}

std::vector<std::int64_t> ConfigFields::counts(Names names) {
  std::vector<std::int64_t> out;
  const nlohmann::json* found = find(names);
  if (found == nullptr || !found->is_array()) return out;
  for (const nlohmann::json& item : *found) {
    const auto value = whole(item, 0);
    if (!value) {
      complain(fmt::format("{} holds {}, which is no whole number", *names.begin(), item.dump()));
      return {};
    }
    out.push_back(*value);
  }
  return out;
}

std::vector<std::string> ConfigFields::words(Names names) {
  std::vector<std::string> out;
  const nlohmann::json* found = find(names);
  if (found == nullptr || !found->is_array()) return out;
  for (const nlohmann::json& item : *found) {
    if (!item.is_string()) {
      complain(fmt::format("{} holds {}, which is no text", *names.begin(), item.dump()));
      return {};
    }
    out.push_back(item.get<std::string>());
  }
  return out;
}

}  // namespace roofcal::models
