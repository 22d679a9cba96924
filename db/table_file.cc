#include "db/table_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace roofcal {
namespace {

constexpr std::size_t kBufferBytes = 1U << 18U;

struct Close {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

}  // namespace

struct TableFile::State {
  std::filesystem::path file;
  std::unique_ptr<gzFile_s, Close> in;
  std::array<char, kBufferBytes> buffer{};
  std::size_t begin = 0, end = 0;
  bool at_end = false;
  std::int64_t next_line = 1, row_line = 0;
  std::vector<std::string> header;
  std::string text;                     // of the row, unquoted
  std::vector<std::size_t> cell_ends;   // in text

  [[nodiscard]] Error damaged(std::string_view what) const {
    return Error{ErrorCode::bad_data, fmt::format("{}:{}: {}", file.string(), next_line, what)};
  }

  // The next character, or nullopt at the end; fills the buffer.
  Result<std::optional<char>> get() {
    if (begin == end) {
      if (at_end) return std::optional<char>();
      const int got = gzread(in.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
      int code = Z_OK;
      const char* message = gzerror(in.get(), &code);
      if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
        return damaged(code == Z_ERRNO ? std::strerror(errno) : fmt::format("damaged gzip data ({})", message));
      }
      begin = 0;
      end = static_cast<std::size_t>(got);
      if (got == 0) {
        at_end = true;
        return std::optional<char>();
      }
    }
    return std::optional<char>(buffer[begin++]);
  }

  // Reads one row into text and cell_ends; false at the end of the file.
  Result<bool> read_row() {
    text.clear();
    cell_ends.clear();
    row_line = next_line;
    bool quoted = false;
    bool any = false;
    for (;;) {
      // Plain runs are copied at once: most of a table is neither quote, comma nor line end.
      if (!quoted && begin < end) {
        const char* from = buffer.data() + begin;
        const char* stop = std::find_if(from, static_cast<const char*>(buffer.data() + end),
                                        [](char c) { return c == ',' || c == '\n' || c == '"' || c == '\r' || c == '\0'; });
        text.append(from, stop);
        any = any || stop != from;
        begin += static_cast<std::size_t>(stop - from);
      }
      const auto got = get();
      if (!got) return got.error();
      if (!got->has_value()) {
        if (quoted) return damaged("a quote is never closed");
        if (!any) return false;
        cell_ends.push_back(text.size());
        return true;
      }
      const char c = **got;
      if (quoted) {
        if (c == '\n') ++next_line;
        if (c != '"') {
          text.push_back(c);
          continue;
        }
        const auto after = get();
        if (!after) return after.error();
        if (after->has_value() && **after == '"') {
          text.push_back('"');
          continue;
        }
        quoted = false;
        if (after->has_value()) --begin;  // look at it again
        continue;
      }
      if (c == '"') {
        quoted = true;
        any = true;
      } else if (c == ',') {
        cell_ends.push_back(text.size());
        any = true;
      } else if (c == '\n') {
        ++next_line;
        if (!any) {
          row_line = next_line;
          continue;
        }
        cell_ends.push_back(text.size());
        return true;
      } else if (c != '\r') {
        text.push_back(c);
        any = true;
      }
    }
  }
};

TableFile::TableFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
TableFile::TableFile(TableFile&&) noexcept = default;
TableFile& TableFile::operator=(TableFile&&) noexcept = default;
TableFile::~TableFile() = default;

Result<TableFile> TableFile::open(const std::filesystem::path& file) {
  std::error_code failure;
  if (std::filesystem::is_directory(file, failure)) return Error{ErrorCode::io, fmt::format("{}: is a folder", file.string())};
  auto state = std::make_unique<State>();
  state->file = file;
  state->in.reset(gzopen(file.c_str(), "rb"));
  if (state->in == nullptr) return Error{ErrorCode::io, fmt::format("{}: {}", file.string(), std::strerror(errno))};
  const auto row = state->read_row();
  if (!row) return row.error();
  if (!*row) return Error{ErrorCode::bad_data, fmt::format("{}: is empty", file.string())};
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::size_t begin = state->text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  for (const std::size_t end : state->cell_ends) {
    std::string name = state->text.substr(begin, end - begin);
    name.erase(0, name.find_first_not_of(" \t"));
    name.erase(name.find_last_not_of(" \t") + 1);
    state->header.push_back(std::move(name));
    begin = end;
  }
  return TableFile(std::move(state));
}

const std::vector<std::string>& TableFile::columns() const { return state_->header; }

std::optional<std::size_t> TableFile::column(std::string_view name) const {
  const auto found = std::ranges::find(state_->header, name);
  if (found == state_->header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - state_->header.begin());
}

Result<std::optional<std::vector<std::string_view>>> TableFile::next() {
  const auto row = state_->read_row();
  if (!row) return row.error();
  if (!*row) return std::optional<std::vector<std::string_view>>();
  std::vector<std::string_view> cells;
  cells.reserve(state_->cell_ends.size());
  std::size_t begin = 0;
  for (const std::size_t end : state_->cell_ends) {
    cells.push_back(std::string_view(state_->text).substr(begin, end - begin));
    begin = end;
  }
  return std::optional(std::move(cells));
}

std::int64_t TableFile::line() const { return state_->row_line; }

}  // namespace roofcal
