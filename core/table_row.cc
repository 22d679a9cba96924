#include "core/table_row.h"

#include <algorithm>
#include <charconv>

namespace roofcal {

TableRow::TableRow(const Operator& op, const Cells& cells) : op_(op), cells_(cells) {}

void TableRow::complain(std::string message) {
  if (!complaint_) {
    complaint_ = std::move(message);
  }
}

void TableRow::absent(std::string_view column, bool has_column) {
  if (has_column) {
    complain(std::string(column) + " is empty");
    return;
  }
  if (!missing_.empty()) {
    missing_ += ", ";
  }
  missing_ += column;
}

void TableRow::field(std::string_view field, std::string_view column, std::optional<std::int64_t> otherwise) {
  const auto text = cells_(column);
  if (text && !text->empty()) {
    // Checked at once, so that the message names the table's own column.
    const auto described = std::ranges::find(op_.fields(), field, &Field::name);
    if (const auto value = parse_field(*described, *text); value) {
      texts_.insert_or_assign(std::string(field), std::string(*text));
    } else {
      complain(std::string(column) + ": " + value.error().message);
    }
  } else if (otherwise) {
    set(field, *otherwise);
  } else {
    absent(column, text.has_value());
  }
}

std::int64_t TableRow::number(std::string_view column, std::optional<std::int64_t> otherwise) {
  const auto text = cells_(column);
  if (!text || text->empty()) {
    if (!otherwise) {
      absent(column, text.has_value());
    }
    return otherwise.value_or(0);
  }
  std::int64_t value = 0;
  const auto* end = text->data() + text->size();
  if (const auto [stop, failure] = std::from_chars(text->data(), end, value); failure != std::errc{} || stop != end) {
    complain(std::string(column) + " '" + std::string(*text) + "' is not a whole number");
    return 0;
  }
  constexpr std::int64_t kLargest = std::int64_t{1} << 53;  // what callers add up and scale cannot overflow
  if (value < -kLargest || value > kLargest) {
    complain(std::string(column) + " " + std::string(*text) + " is too large");
    return 0;
  }
  return value;
}

void TableRow::set(std::string_view field, std::int64_t value) {
  // As text that the field reads: some are words (an expert distribution), not numbers.
  const auto described = std::ranges::find(op_.fields(), field, &Field::name);
  texts_.insert_or_assign(std::string(field), print_field(*described, value));
}

void TableRow::attribute(std::string_view attribute, std::string_view column,
                         std::optional<std::string_view> otherwise) {
  const auto text = cells_(column);
  if (text && !text->empty()) {
    texts_.insert_or_assign(std::string(attribute), std::string(*text));
  } else if (otherwise) {
    texts_.insert_or_assign(std::string(attribute), std::string(*otherwise));
  } else {
    absent(column, text.has_value());
  }
}

Result<Call> TableRow::call() && {
  if (!missing_.empty()) {
    return Error{ErrorCode::missing_column, std::move(missing_) + ": no such column"};
  }
  if (complaint_) {
    return Error{ErrorCode::bad_data, *std::move(complaint_)};
  }
  const Cells own = [this](std::string_view name) -> std::optional<std::string_view> {
    const auto found = texts_.find(name);
    return found == texts_.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  };
  auto parsed = parse_call(op_, own);
  if (!parsed) {
    return Error{ErrorCode::bad_data, parsed.error().message};
  }
  return parsed;
}

}  // namespace roofcal
