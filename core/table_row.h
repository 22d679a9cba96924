// Helper of Operator::from_table: reads named columns of a foreign table into a Call, keeping the first complaint.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/operator.h"

namespace roofcal {

class TableRow {
 public:
  TableRow(const Operator& op, const Cells& cells);

  /// The operator's field `field` from column `column`; `otherwise` stands in when the table has no such column or an
  /// empty cell.
  void field(std::string_view field, std::string_view column, std::optional<std::int64_t> otherwise = std::nullopt);
  /// A whole-number column that is not itself a field (a prefix to add, say).
  [[nodiscard]] std::int64_t number(std::string_view column, std::optional<std::int64_t> otherwise = std::nullopt);
  /// Sets a field to a computed value, checking its domain.
  void set(std::string_view field, std::int64_t value);
  /// The operator's attribute from a column; `otherwise` as above.
  void attribute(std::string_view attribute, std::string_view column,
                 std::optional<std::string_view> otherwise = std::nullopt);

  /// The call, or what is wrong with the row (the column and the value are named); `missing_column` with all names
  /// comes first. Fields not set take their fallback.
  [[nodiscard]] Result<Call> call() &&;

 private:
  void complain(std::string message);
  // No value, and nothing that stands in for one.
  void absent(std::string_view column, bool has_column);

  const Operator& op_;
  const Cells& cells_;
  std::map<std::string, std::string, std::less<>> texts_;
  std::string missing_;  // names of columns, joined
  std::optional<std::string> complaint_;
};

}  // namespace roofcal
