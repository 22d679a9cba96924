// Output formats by name, and a report in each of them.
#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace roofcal::report {

enum class Format { table, json, jsonl, csv, md };

/// Names in the order of the enumerators.
[[nodiscard]] std::span<const std::string_view> format_names();
[[nodiscard]] std::optional<Format> parse_format(std::string_view name);

/// Writes a whole report. json ends with a newline; csv lines end with "\n".
void write(const Report& report, Format format, std::ostream& out);

/// Records one by one, for what does not fit into memory. csv and jsonl only. `columns` and `out` outlive the stream.
class RecordStream {
 public:
  /// Writes the heading of csv. Precondition: format is csv or jsonl.
  RecordStream(const std::vector<Column>& columns, Format format, std::ostream& out);
  void add(const Record& record);

 private:
  const std::vector<Column>& columns_;
  Format format_;
  std::ostream& out_;
};

}  // namespace roofcal::report
