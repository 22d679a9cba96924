#include "cli/row_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/field_text.h"
#include "core/lower_case.h"

namespace roofcal::cli {
namespace {

constexpr std::array<std::string_view, 7> kQuestion{"op", "phase", "gpu", "framework", "version", "kernel", "cache"};

}  // namespace

Result<RowPlan> RowPlan::from_header(std::span<const Cell> header) {
  RowPlan plan;
  for (const Cell& cell : header) {
    std::string name = lower_case(column_name(cell.value));
    if (name == "framework_version") name = "version";
    const auto index = static_cast<int>(plan.names_.size());
    if (!name.empty() && !plan.by_name_.emplace(name, index).second) {
      return Error{ErrorCode::bad_data, fmt::format("column '{}' is there twice", name)};
    }
    plan.names_.push_back(std::move(name));
  }
  plan.numeric_.assign(plan.names_.size(), false);
  plan.read_.assign(plan.names_.size(), false);
  std::vector<bool> asks(plan.names_.size(), false);
  const auto mark = [&](std::string_view name, std::vector<bool>& what) {
    const int column = plan.column(column_name(name));
    if (column < 0) return;
    what[static_cast<std::size_t>(column)] = true;
    plan.read_[static_cast<std::size_t>(column)] = true;
  };
  for (const std::string_view name : kQuestion) mark(name, asks);
  for (const Operator* op : all_operators()) {
    for (const AttributeField& attribute : op->attributes()) mark(attribute.name, asks);
    for (const Field& field : op->fields()) {
      mark(field.name, plan.read_);
      if (field.parse == nullptr) mark(field.name, plan.numeric_);
    }
  }
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (asks[i]) plan.question_.push_back(static_cast<int>(i));
  }
  return plan;
}

int RowPlan::column(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

FieldColumns RowPlan::field_columns(const Operator& op) const {
  FieldColumns out;
  out.column.fill(-1);
  for (std::size_t i = 0; i < op.fields().size(); ++i) out.column[i] = column(column_name(op.fields()[i].name));
  return out;
}

std::vector<std::string> RowPlan::unread() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!read_[i]) out.push_back(names_[i]);
  }
  return out;
}

}  // namespace roofcal::cli
