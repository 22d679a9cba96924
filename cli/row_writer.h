// Answers to the rows of a CSV: the row's own columns, then the answer's.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string_view>

#include "cli/row_plan.h"
#include "predictor/predictor.h"
#include "report/write.h"

namespace roofcal::cli {

/// What goes with a row beside its own cells.
struct RowAnswer {
  std::string_view op;
  const Resolution* resolution = nullptr;  ///< null: the row has no answer, `error` says why
  const Answer* answer = nullptr;
  std::string_view warnings;
  std::string_view error;
};

class RowWriter {
 public:
  virtual ~RowWriter() = default;
  virtual void row(std::span<const Cell> cells, const RowAnswer& answer) = 0;
  /// Everything so far goes out.
  virtual void end_block() = 0;
  /// After the last block.
  virtual void end() = 0;
};

/// A row's own columns keep their text; columns that the answer has too (gpu, framework, version, kernel, ...) are
/// replaced by the answer's. `plan` and `out` outlive the writer.
[[nodiscard]] std::unique_ptr<RowWriter> make_row_writer(report::Format format, const RowPlan& plan, std::ostream& out);

}  // namespace roofcal::cli
