#include "report/write.h"

#include <algorithm>
#include <array>

#include "report/json.h"
#include "report/table.h"
#include "report/text.h"

namespace roofcal::report {
namespace {

constexpr std::array<std::string_view, 5> kNames{"table", "json", "jsonl", "csv", "md"};

void write_csv(const Report& report, std::ostream& out) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < report.columns.size(); ++i) {
    const bool nested = std::ranges::any_of(report.records, [i](const Record& record) {
      return std::holds_alternative<std::shared_ptr<const Report>>(record[i]);
    });
    if (report.columns[i].audience != Audience::people && !nested) shown.push_back(i);
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    out << (i == 0 ? "" : ",") << csv_quoted(report.columns[shown[i]].key);
  }
  out << '\n';
  for (const Record& record : report.records) {
    for (std::size_t i = 0; i < shown.size(); ++i) {
      out << (i == 0 ? "" : ",") << csv_quoted(for_programs(record[shown[i]]));
    }
    out << '\n';
  }
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
    case Format::csv:
      write_csv(report, out);
      break;
    case Format::md:
      out << markdown(report);
      break;
  }
}

}  // namespace roofcal::report
