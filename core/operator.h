// What an operator is: its shape, its attributes, the work it does. Everything above (storage, calibration, command
// line) handles operators only through this interface and never asks which one it is.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/dtype.h"
#include "core/gpu_spec.h"
#include "core/result.h"
#include "core/units.h"

namespace roofcal {

/// One dimension of an operator's shape: a whole number within a valid domain.
struct Field {
  std::string_view
      name;  ///< canonical name, as a flag (`--kv-heads`) and as a column (`kv_heads`; '-' and '_' are equal)
  std::int64_t min;
  std::int64_t max;
  std::optional<std::int64_t> fallback;  ///< the value when none is given; required when absent
  std::string_view help;
  /// Fields whose text is not a plain number (an expert distribution, say) translate it; null for numbers.
  std::optional<std::int64_t> (*parse)(std::string_view text) = nullptr;
  std::string (*print)(std::int64_t value) = nullptr;
};

/// A choice that makes another kernel class rather than another size: a dtype, a collective, a rank count.
struct AttributeField {
  std::string_view name;      ///< "dtype", "kv-dtype", "collective"
  std::string_view fallback;  ///< the value when none is given; may name another attribute as "=dtype"; empty: required
  std::string_view help;
  /// Canonical spelling of a value, or nullopt when the value is not one. For dtypes: `canonical_dtype`.
  std::optional<std::string> (*canonical)(std::string_view text);
};

/// Accepts every dtype of core/dtype.h under its aliases.
[[nodiscard]] std::optional<std::string> canonical_dtype(std::string_view text);

inline constexpr std::size_t kMaxFields = 12;

/// The sizes of one operator call, in the order of Operator::fields().
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> values);
  explicit Shape(std::size_t size) : size_(size) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return values_[i]; }
  std::int64_t& operator[](std::size_t i) { return values_[i]; }
  [[nodiscard]] std::span<const std::int64_t> values() const { return {values_.data(), size_}; }
  friend bool operator==(const Shape&, const Shape&) = default;
  friend auto operator<=>(const Shape&, const Shape&) = default;

 private:
  std::array<std::int64_t, kMaxFields> values_{};
  std::size_t size_ = 0;
};

/// Attribute name -> canonical value, e.g. {"dtype": "bfloat16"}. Ordered, so that equal attributes print equally.
using Attributes = std::map<std::string, std::string, std::less<>>;

/// Whether a call's operands lie in L2 before it starts (a graph replay on the same buffers) or not.
enum class CacheMode { hot, cold };
[[nodiscard]] std::string_view to_string(CacheMode mode);
[[nodiscard]] std::optional<CacheMode> parse_cache_mode(std::string_view text);

/// What a call has to do, whatever kernel does it.
struct Work {
  Flops flops{};       ///< multiply and add count two
  Rate rate{};         ///< which peak they run at
  Bytes bytes_read{};  ///< compulsory traffic: each operand once
  Bytes bytes_written{};
  Bytes link_bytes{};  ///< through the busiest link of one GPU, one direction

  [[nodiscard]] Bytes bytes() const { return bytes_read + bytes_written; }
};

/// One cell of a table by the column's name; nullopt when the row has no such column.
using Cells = std::function<std::optional<std::string_view>(std::string_view column)>;

/// What a row of measurements says about one operator call.
struct Call {
  Attributes attributes;
  Shape shape;
  /// Whose kernel it is, in lower case, where a table's `framework` names the caller instead (NCCL called by
  /// TensorRT-LLM); empty: the table's word holds.
  std::string framework = {};
};

class Operator {
 public:
  virtual ~Operator() = default;

  /// Unique name: "gemm", "context_attention".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The command-line word, and the phase that tells operators of one family apart ("attention" + "context").
  [[nodiscard]] virtual std::string_view family() const { return name(); }
  [[nodiscard]] virtual std::string_view phase() const { return {}; }
  [[nodiscard]] virtual std::string_view help() const = 0;

  [[nodiscard]] virtual std::span<const Field> fields() const = 0;
  [[nodiscard]] virtual std::span<const AttributeField> attributes() const = 0;

  /// FLOPs and compulsory bytes of a call. Domain: a shape within fields(), attributes in canonical spelling.
  [[nodiscard]] virtual Work work(const Attributes& attributes, const Shape& shape) const = 0;

  /// Whether the sizes make a legal call together (heads divisible by kv heads, ...); the message says what is wrong.
  [[nodiscard]] virtual Result<void> check(const Attributes& attributes, const Shape& shape) const;

  /// `op_name` values under which measurement tables file this operator.
  [[nodiscard]] virtual std::span<const std::string_view> table_names() const = 0;
  /// Reads a row of an AIConfigurator operator table by column name (columns as in docs/formats.md). Errors:
  /// `missing_column` naming all that the table lacks, or what is wrong with the row.
  [[nodiscard]] virtual Result<Call> from_table(const Cells& cells) const = 0;
};

/// Every operator that roofcal knows, in documentation order. Adding one: a file in core, and a line in operators.cc.
[[nodiscard]] std::span<const Operator* const> all_operators();
/// nullptr for an unknown name.
[[nodiscard]] const Operator* find_operator(std::string_view name);

/// Reads fields and attributes under their canonical names (flags, or columns of `predict rows` and of exports), checks
/// domains and calls Operator::check. Errors name the field and the value.
[[nodiscard]] Result<Call> parse_call(const Operator& op, const Cells& cells);
/// A field's value as a user writes it.
[[nodiscard]] std::string print_field(const Field& field, std::int64_t value);
/// Parses one field, checking its domain. The error names the field, the value and the domain.
[[nodiscard]] Result<std::int64_t> parse_field(const Field& field, std::string_view text);

}  // namespace roofcal
