// Reading the members of a config.json: aliases, defaults, and a list of all that is missing or malformed, so that one
// message names everything.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofcal::models {

/// Members of the language model's object, or of the object around it where that is where a release keeps them.
class ConfigFields {
 public:
  ConfigFields(const nlohmann::json& text, const nlohmann::json& outer) : text_(text), outer_(outer) {}

  using Names = std::initializer_list<const char*>;

  /// The first of `names` that is there and not null.
  [[nodiscard]] const nlohmann::json* find(Names names) const;
  /// The same in the text object first, then around it.
  [[nodiscard]] const nlohmann::json* find_anywhere(Names names) const;
  /// Whether it is there and null, where a family tells that from not being there.
  [[nodiscard]] bool names_null(const char* name) const;
  [[nodiscard]] bool has(Names names) const { return find(names) != nullptr; }

  /// A positive whole number. Missing without a fallback: noted under the first name; the value is then 1.
  std::int64_t count(Names names, std::optional<std::int64_t> fallback = std::nullopt);
  /// Zero or more.
  std::int64_t count_or_zero(Names names, std::int64_t fallback);
  bool flag(Names names, bool fallback);
  std::string text(Names names, std::string fallback);
  /// Whole numbers; empty when missing.
  std::vector<std::int64_t> counts(Names names);
  /// Words; empty when missing.
  std::vector<std::string> words(Names names);

  void lacks(std::string what) { missing_.push_back(std::move(what)); }
  void complain(std::string what) { wrong_.push_back(std::move(what)); }
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }
  [[nodiscard]] const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  const nlohmann::json& text_;
  const nlohmann::json& outer_;
  std::vector<std::string> missing_;
  std::vector<std::string> wrong_;
};

}  // namespace roofcal::models
