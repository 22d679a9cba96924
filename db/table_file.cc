#include "db/table_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <unordered_map>

namespace roofcal {
namespace {

constexpr std::size_t kBufferBytes = 1U << 18U;
constexpr std::size_t kHeaderTextBytes = 200;
constexpr int kEnd = -1;     // of the file
constexpr int kBroken = -2;  // State::failure says how

struct Close {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

bool is_plain(char c) { return c != ',' && c != '\n' && c != '"' && c != '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

struct ViewHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

}  // namespace

struct TableFile::State {
  std::filesystem::path file;
  std::unique_ptr<gzFile_s, Close> in;
  std::array<char, kBufferBytes> buffer{};
  std::size_t begin = 0, end = 0;
  std::optional<Error> failure;  // of the reading; damaged() adds where
  std::int64_t next_line = 1, row_line = 0;
  std::vector<std::string> header;
  std::unordered_map<std::string, std::size_t, ViewHash, std::equal_to<>> columns;

  struct CellEnd {
    std::size_t at;
    bool quoted;
  };
  std::string text;  // of the row, unquoted
  std::vector<CellEnd> cell_ends;
  std::vector<std::string_view> cells;

  [[nodiscard]] Error damaged() const {
    return Error{failure->code, fmt::format("{}:{}: {}", file.string(), next_line, failure->message)};
  }

  // Whether there is another character; fills the buffer.
  bool fill() {
    if (begin < end) return true;
    if (failure) return false;
    const int got = gzread(in.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    int code = Z_OK;
    const char* message = gzerror(in.get(), &code);
    // What was read before the file broke off is good, and comes first.
    if (code == Z_BUF_ERROR) {
      failure = Error{ErrorCode::bad_data, "the gzip data is cut off here; what follows is lost"};
    } else if (code == Z_ERRNO) {
      failure = Error{ErrorCode::io, std::strerror(errno)};
    } else if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      failure = Error{ErrorCode::io, fmt::format("damaged gzip data ({}); get the file again", message)};
      return false;
    }
    begin = 0;
    end = got < 0 ? 0 : static_cast<std::size_t>(got);
    return end > 0;
  }

  int peek() { return fill() ? static_cast<unsigned char>(buffer[begin]) : failure ? kBroken : kEnd; }

  // Appends the characters up to the next that ends a run of `wanted` ones; whether there were any.
  template <class Wanted>
  bool copy_while(const Wanted& wanted) {
    const std::size_t before = text.size();
    while (fill()) {
      const char* const from = buffer.data() + begin;
      const char* const last = buffer.data() + end;
      const char* const stop = std::find_if_not(from, last, wanted);
      text.append(from, stop);
      begin += static_cast<std::size_t>(stop - from);
      if (stop != last) break;
    }
    return text.size() > before;
  }

  // A quoted part up to its closing quote, which is passed over.
  Result<void> read_quoted() {
    const std::int64_t opened = next_line;
    for (;;) {
      const std::size_t before = text.size();
      copy_while([](char c) { return c != '"'; });
      next_line += std::count(text.begin() + static_cast<std::ptrdiff_t>(before), text.end(), '\n');
      if (const int c = peek(); c < 0) {
        if (c == kBroken) return damaged();
        return Error{ErrorCode::bad_data, fmt::format("{}:{}: a quote is never closed", file.string(), opened)};
      }
      ++begin;
      if (peek() != '"') return {};
      text.push_back('"');  // a quote written twice is one
      ++begin;
    }
  }

  // Reads one row into text and cell_ends; false at the end of the file.
  Result<bool> read_row() {
    text.clear();
    cell_ends.clear();
    row_line = next_line;
    bool any = false;
    bool quoted = false;
    for (;;) {
      any = copy_while(is_plain) || any;
      const int c = peek();
      if (c == kBroken) return damaged();
      if (c == kEnd) {
        if (any) cell_ends.push_back({text.size(), quoted});
        return any;
      }
      ++begin;
      if (c == '"') {
        any = quoted = true;
        if (const auto read = read_quoted(); !read) return read.error();
      } else if (c == ',') {
        any = true;
        cell_ends.push_back({text.size(), quoted});
        quoted = false;
      } else if (c == '\n') {
        ++next_line;
        if (any) {
          cell_ends.push_back({text.size(), quoted});
          return true;
        }
        row_line = next_line;
      }
    }
  }

  void cut_cells(std::size_t begin_of_first) {
    cells.clear();
    std::size_t from = begin_of_first;
    for (const auto& [to, quoted] : cell_ends) {
      const std::string_view cell = std::string_view(text).substr(from, to - from);
      cells.push_back(quoted ? cell : trimmed(cell));
      from = to;
    }
  }
};

TableFile::TableFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
TableFile::TableFile(TableFile&&) noexcept = default;
TableFile& TableFile::operator=(TableFile&&) noexcept = default;
TableFile::~TableFile() = default;

Result<TableFile> TableFile::open(const std::filesystem::path& file) {
  std::error_code failure;
  if (std::filesystem::is_directory(file, failure)) {
    return Error{ErrorCode::io, fmt::format("{}: is a folder", file.string())};
  }
  // A file is read twice, for its rows and for the hash of its content: a pipe gives each byte once.
  if (std::filesystem::exists(file, failure) && !std::filesystem::is_regular_file(file, failure)) {
    return Error{ErrorCode::io, fmt::format("{}: is no regular file: write what it gives to one first", file.string())};
  }
  auto state = std::make_unique<State>();
  state->file = file;
  errno = 0;
  state->in.reset(gzopen(file.c_str(), "rb"));
  if (state->in == nullptr) return Error{ErrorCode::io, fmt::format("{}: {}", file.string(), std::strerror(errno))};
  gzbuffer(state->in.get(), kBufferBytes);
  const auto row = state->read_row();
  if (!row) return row.error();
  if (!*row) return Error{ErrorCode::bad_data, fmt::format("{}: is empty", file.string())};
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  state->cut_cells(state->text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  TableFile table(std::move(state));
  State& made = *table.state_;
  for (const std::string_view cell : made.cells) {
    const std::string_view name = trimmed(cell);
    if (!made.columns.emplace(name, made.header.size()).second) {
      return Error{ErrorCode::bad_data,
                   fmt::format("{}:1: two columns are called '{}'", file.string(), name.substr(0, kHeaderTextBytes))};
    }
    made.header.emplace_back(name);
  }
  return table;
}

const std::filesystem::path& TableFile::file() const { return state_->file; }
const std::vector<std::string>& TableFile::columns() const { return state_->header; }

std::optional<std::size_t> TableFile::column(std::string_view name) const {
  const auto found = state_->columns.find(name);
  return found == state_->columns.end() ? std::nullopt : std::optional(found->second);
}

std::string TableFile::header_text() const {
  std::string out = fmt::format("{}", fmt::join(state_->header, ", "));
  if (out.size() > kHeaderTextBytes) out = out.substr(0, kHeaderTextBytes) + "...";
  // A file of another kind may hold anything.
  std::ranges::replace_if(
      out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

Result<bool> TableFile::next() {
  auto row = state_->read_row();
  if (row && *row) state_->cut_cells(0);
  return row;
}

std::span<const std::string_view> TableFile::cells() const { return state_->cells; }
std::int64_t TableFile::line() const { return state_->row_line; }

}  // namespace roofcal
