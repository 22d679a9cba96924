#include "cli/row_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "report/json.h"
#include "report/table.h"
#include "report/text.h"

namespace roofcal::cli {
namespace {

using report::Column;
using report::Format;
using report::Record;
using report::Unit;
using report::Value;

const std::vector<Column>& answer_columns() {
  static const std::vector<Column> columns{{"time_s", "time", Unit::seconds},
                                           {"lo_s", "low", Unit::seconds},
                                           {"hi_s", "high", Unit::seconds},
                                           {"bound", "bound"},
                                           {"roofline_s", "roofline", Unit::seconds},
                                           {"efficiency", "efficiency", Unit::fraction},
                                           {"provenance", "provenance"},
                                           {"gpu", "gpu"},
                                           {"framework", "framework"},
                                           {"version", "version"},
                                           {"kernel", "kernel"},
                                           {"warnings", "warnings"},
                                           {"error", "error"}};
  return columns;
}

// Columns of the input that are passed on.
std::vector<std::size_t> passed_columns(const RowPlan& plan) {
  std::vector<std::size_t> passed;
  for (std::size_t i = 0; i < plan.names().size(); ++i) {
    if (std::ranges::find(answer_columns(), plan.names()[i], &Column::key) == answer_columns().end()) {
      passed.push_back(i);
    }
  }
  return passed;
}

// The fast path: a row costs its digits.
class CsvRowWriter final : public RowWriter {
 public:
  CsvRowWriter(const RowPlan& plan, std::ostream& out)
      : passed_(passed_columns(plan)), add_op_(plan.column("op") < 0), out_(out) {
    if (add_op_) buffer_ += "op,";
    for (const std::size_t i : passed_) buffer_ += report::csv_quoted(plan.names()[i]) + ",";
    for (const Column& column : answer_columns()) buffer_ += column.key + ",";
    buffer_.back() = '\n';
  }

  void row(std::span<const Cell> cells, const RowAnswer& answer) override {
    if (add_op_) text(answer.op);
    for (const std::size_t i : passed_) {
      if (i < cells.size()) buffer_ += cells[i].raw;
      buffer_ += ',';
    }
    if (answer.resolution != nullptr) {
      const Answer& a = *answer.answer;
      number(a.time.value());
      number(a.lo.value());
      number(a.hi.value());
      text(to_string(a.bound));
      number(a.roofline.value());
      number(a.efficiency());
      text(to_string(a.provenance));
      text(answer.resolution->gpu().name);
      text(answer.resolution->framework());
      text(answer.resolution->version());
      text(answer.resolution->kernels()[a.kernel]);
    } else {
      buffer_ += ",,,,,,,,,,,";
    }
    text(answer.warnings);
    text(answer.error);
    buffer_.back() = '\n';
  }

  void end_block() override {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }
  void end() override { end_block(); }

 private:
  void number(double value) {
    if (std::isfinite(value)) {
      std::array<char, 32> digits;
      const auto [stop, failure] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
      buffer_.append(digits.data(), stop);
    }
    buffer_ += ',';
  }
  void text(std::string_view value) {
    if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
      buffer_ += value;
    } else {
      buffer_ += report::csv_quoted(value);
    }
    buffer_ += ',';
  }

  std::vector<std::size_t> passed_;
  bool add_op_;
  std::ostream& out_;
  std::string buffer_;
};

// Every other format: records of the report module, a block at a time.
class RecordRowWriter final : public RowWriter {
 public:
  RecordRowWriter(Format format, const RowPlan& plan, std::ostream& out)
      : format_(format), plan_(plan), passed_(passed_columns(plan)), add_op_(plan.column("op") < 0), out_(out) {
    if (add_op_) block_.columns.push_back({"op", "op"});
    for (const std::size_t i : passed_) block_.columns.push_back({plan.names()[i], plan.names()[i]});
    block_.columns.insert(block_.columns.end(), answer_columns().begin(), answer_columns().end());
  }

  void row(std::span<const Cell> cells, const RowAnswer& answer) override {
    Record record;
    if (add_op_) record.emplace_back(std::string(answer.op));
    for (const std::size_t i : passed_) record.push_back(i < cells.size() ? cell_value(i, cells[i].value) : Value());
    if (answer.resolution != nullptr) {
      const Answer& a = *answer.answer;
      const Record figures{a.time.value(),
                           a.lo.value(),
                           a.hi.value(),
                           std::string(to_string(a.bound)),
                           a.roofline.value(),
                           a.efficiency(),
                           std::string(to_string(a.provenance)),
                           answer.resolution->gpu().name,
                           answer.resolution->framework(),
                           answer.resolution->version(),
                           answer.resolution->kernels()[a.kernel]};
      record.insert(record.end(), figures.begin(), figures.end());
    } else {
      record.resize(record.size() + 11);
    }
    record.push_back(answer.warnings.empty() ? Value() : Value(std::string(answer.warnings)));
    record.push_back(answer.error.empty() ? Value() : Value(std::string(answer.error)));
    block_.records.push_back(std::move(record));
  }

  void end_block() override {
    if (block_.records.empty()) return;
    switch (format_) {
      case Format::json:
        for (const Record& record : block_.records) {
          out_ << (first_ ? "[\n  " : ",\n  ") << report::dumped(report::to_json(block_.columns, record), -1);
          first_ = false;
        }
        break;
      case Format::jsonl:
      case Format::csv:
        report::write(block_, format_, out_);
        break;
      case Format::table:  // each block has columns as wide as it needs, and their names above
        out_ << (first_ ? "" : "\n") << report::grid(block_);
        break;
      case Format::md: {
        // Every column in every block, and their names above the first only.
        const std::string text = report::markdown(block_, report::EmptyColumns::keep);
        const std::size_t heading = text.find('\n', text.find('\n') + 1) + 1;
        out_ << std::string_view(text).substr(first_ ? 0 : heading);
        break;
      }
    }
    first_ = false;
    block_.records.clear();
  }

  void end() override {
    end_block();
    if (format_ == Format::json) out_ << (first_ ? "[]\n" : "\n]\n");
  }

 private:
  [[nodiscard]] Value cell_value(std::size_t column, std::string_view text) const {
    if (text.empty()) return {};
    std::int64_t number = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, number);
    if (plan_.numeric(column) && failure == std::errc{} && stop == end) return number;
    return std::string(text);
  }

  Format format_;
  const RowPlan& plan_;
  std::vector<std::size_t> passed_;
  bool add_op_;
  std::ostream& out_;
  report::Report block_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<RowWriter> make_row_writer(Format format, const RowPlan& plan, std::ostream& out) {
  if (format == Format::csv) return std::make_unique<CsvRowWriter>(plan, out);
  return std::make_unique<RecordRowWriter>(format, plan, out);
}

}  // namespace roofcal::cli
