// Lines of a CSV file or of stdin, a block at a time, and their cells: nothing is copied.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roofcal::cli {

struct Line {
  std::int64_t number = 0;  ///< from 1
  std::string_view text;    ///< without its end, valid until the next block is read
};

class RowReader {
 public:
  /// "-" is stdin. Plain or gzip'd, told apart by content. Errors: io.
  [[nodiscard]] static Result<RowReader> open(const std::string& file);
  RowReader(RowReader&&) noexcept;
  RowReader& operator=(RowReader&&) noexcept;
  ~RowReader();

  /// Replaces `lines` by the next block: all whole lines of the next 64 KiB or so, blank ones left out. Empty at the
  /// end. Accepts \n and \r\n, drops a byte order mark. Errors: io; a line of more than 1 MiB.
  [[nodiscard]] Result<void> next(std::vector<Line>& lines);

 private:
  struct Impl;
  explicit RowReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// One cell: as it stands in the line, and what it says (blanks and quotes taken off).
struct Cell {
  std::string_view raw;
  std::string_view value;
};

/// Splits a line at commas outside quotes (RFC 4180), appending to `cells`. Values with doubled quotes are unescaped
/// into `scratch`, which must live as long as the cells. Errors: a quote that does not end on the line.
[[nodiscard]] Result<void> split_cells(std::string_view line, std::vector<Cell>& cells,
                                       std::vector<std::unique_ptr<std::string>>& scratch);

}  // namespace roofcal::cli
