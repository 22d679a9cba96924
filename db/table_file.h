// A CSV file, gzip'd or not, as rows of cells: quotes, CRLF, a byte-order mark, one header line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roofcal {

class TableFile {
 public:
  /// Opens and reads the header. Errors: no such file, an empty one, damaged gzip data, two columns of one name.
  [[nodiscard]] static Result<TableFile> open(const std::filesystem::path& file);
  TableFile(TableFile&&) noexcept;
  TableFile& operator=(TableFile&&) noexcept;
  ~TableFile();

  [[nodiscard]] const std::filesystem::path& file() const;
  [[nodiscard]] const std::vector<std::string>& columns() const;
  /// Index of a column; nullopt when the file has none of that name.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  /// The header as it goes into messages: one line of bounded length.
  [[nodiscard]] std::string header_text() const;

  /// Reads the next row into cells(), without the spaces around a cell that is not quoted; false at the end. Blank
  /// lines are passed over. A row may have another number of cells than the header: the caller decides. Errors:
  /// `bad_data` where the file ends within a row (a quote that is never closed, a gzip file cut off): the rows before
  /// are good; `io` where what was read cannot be trusted (damaged gzip data) or reading fails.
  [[nodiscard]] Result<bool> next();
  /// The last row's cells, valid until the next call of next().
  [[nodiscard]] std::span<const std::string_view> cells() const;
  /// Line in the file on which the last row began; the header is line 1.
  [[nodiscard]] std::int64_t line() const;

 private:
  struct State;
  explicit TableFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roofcal
