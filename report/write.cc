#include "report/write.h"

#include <algorithm>
#include <array>

#include "report/json.h"
#include "report/table.h"
#include "report/text.h"

namespace roofcal::report {
namespace {

constexpr std::array<std::string_view, 5> kNames{"table", "json", "jsonl", "csv", "md"};

void write_csv_record(const std::vector<Column>& columns, const Record& record, std::ostream& out) {
  const char* separator = "";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].audience == Audience::people) continue;
    out << separator << csv_quoted(for_programs(record[i]));
    separator = ",";
  }
  out << '\n';
}

void write_csv_heading(const std::vector<Column>& columns, std::ostream& out) {
  const char* separator = "";
  for (const Column& column : columns) {
    if (column.audience == Audience::people) continue;
    out << separator << csv_quoted(column.key);
    separator = ",";
  }
  out << '\n';
}

// Lists of records have no place in a flat table.
std::vector<Column> flat_columns(const Report& report) {
  std::vector<Column> columns = report.columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool nested = std::ranges::any_of(report.records, [i](const Record& record) {
      return std::holds_alternative<std::shared_ptr<const Report>>(record[i]);
    });
    if (nested) columns[i].audience = Audience::people;
  }
  return columns;
}

}  // namespace

std::span<const std::string_view> format_names() { return kNames; }

std::optional<Format> parse_format(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Format>(found - kNames.begin());
}

void write(const Report& report, Format format, std::ostream& out) {
  switch (format) {
    case Format::table:
      out << (report.single && report.records.size() == 1 ? card(report) : grid(report));
      break;
    case Format::json:
      out << dumped(to_json(report), 2) << '\n';
      break;
    case Format::jsonl:
      for (const Record& record : report.records) out << dumped(to_json(report.columns, record), -1) << '\n';
      break;
    case Format::csv: {
      const std::vector<Column> columns = flat_columns(report);
      write_csv_heading(columns, out);
      for (const Record& record : report.records) write_csv_record(columns, record, out);
      break;
    }
    case Format::md:
      out << markdown(report);
      break;
  }
}

RecordStream::RecordStream(const std::vector<Column>& columns, Format format, std::ostream& out)
    : columns_(columns), format_(format), out_(out) {
  if (format_ == Format::csv) write_csv_heading(columns_, out_);
}

void RecordStream::add(const Record& record) {
  if (format_ == Format::csv) {
    write_csv_record(columns_, record, out_);
  } else {
    out_ << dumped(to_json(columns_, record), -1) << '\n';
  }
}

}  // namespace roofcal::report
