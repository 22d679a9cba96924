// Names and values as JSON text, one spelling for equal content, since hashes are made of it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/operator.h"
#include "core/result.h"

namespace roofcal {

[[nodiscard]] bool is_utf8(std::string_view text);

/// Objects with sorted names. Texts have to be UTF-8, numbers finite.
[[nodiscard]] std::string json_text(const Attributes& values);
[[nodiscard]] std::string json_text(const std::map<std::string, std::string>& values);
[[nodiscard]] std::string json_text(const std::map<std::string, double>& values);
[[nodiscard]] std::string json_text(const std::map<std::string, std::int64_t>& values);

/// The inverse. Errors: text that is no such object.
[[nodiscard]] Result<void> read_json(std::string_view text, Attributes& values);
[[nodiscard]] Result<void> read_json(std::string_view text, std::map<std::string, std::string>& values);
[[nodiscard]] Result<void> read_json(std::string_view text, std::map<std::string, double>& values);
[[nodiscard]] Result<void> read_json(std::string_view text, std::map<std::string, std::int64_t>& values);

/// Shapes of one operator: {"m":1,"n":2,"k":3} in the order of its fields; a field that users write as a word is one.
class ShapeText {
 public:
  explicit ShapeText(const Operator& op);

  /// Domain: a shape of the operator.
  [[nodiscard]] std::string write(const Shape& shape) const;
  /// Fields that the text does not have take their fallback: it may be older than they are. Errors: a field without
  /// either, or outside its domain.
  [[nodiscard]] Result<Shape> read(std::string_view text) const;

 private:
  const Operator* op_;
  std::vector<std::string> names_;  // as JSON, with what stands around them: {"m":
};

}  // namespace roofcal
