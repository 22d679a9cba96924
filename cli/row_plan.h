// What the columns of a CSV of operator calls mean, found out once from the header.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/row_reader.h"
#include "core/operator.h"

namespace roofcal::cli {

/// Which columns hold an operator's sizes; -1: none.
struct FieldColumns {
  std::array<int, kMaxFields> column{};
};

class RowPlan {
 public:
  /// Errors: usage, a column named twice.
  [[nodiscard]] static Result<RowPlan> from_header(std::span<const Cell> header);

  /// Names as columns spell them: lower case, '_' for '-'.
  [[nodiscard]] std::span<const std::string> names() const { return names_; }
  /// -1 when there is no such column. `version` is also known as framework_version.
  [[nodiscard]] int column(std::string_view name) const;
  [[nodiscard]] FieldColumns field_columns(const Operator& op) const;

  /// Columns that say what is asked, all but the sizes: rows that agree in these are one question.
  [[nodiscard]] std::span<const int> question_columns() const { return question_; }
  /// Columns that no operator and no question reads; they are passed on as they are.
  [[nodiscard]] std::vector<std::string> unread() const;
  /// Whether a column holds numbers of some operator.
  [[nodiscard]] bool numeric(std::size_t column) const { return numeric_[column]; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int, std::less<>> by_name_;
  std::vector<int> question_;
  std::vector<bool> numeric_;
  std::vector<bool> read_;
};

}  // namespace roofcal::cli
