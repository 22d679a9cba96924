#include "cli/row_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

namespace roofcal::cli {
namespace {

constexpr std::size_t kBlock = 64 * 1024;
constexpr std::size_t kLongestLine = 1024 * 1024;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct CloseGz {
  void operator()(gzFile file) const { gzclose(file); }
};

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

struct RowReader::Impl {
  std::string name;
  std::unique_ptr<gzFile_s, CloseGz> file;
  std::string buffer;  // [0, used): bytes read; [done, used): not yet given out
  std::size_t used = 0;
  std::size_t done = 0;
  std::int64_t number = 0;
  bool ended = false;

  [[nodiscard]] Result<void> fill() {
    buffer.erase(0, done);
    used -= done;
    done = 0;
    if (buffer.size() < used + kBlock) buffer.resize(used + kBlock);
    const int got = gzread(file.get(), buffer.data() + used, static_cast<unsigned>(kBlock));
    if (got < 0) {
      int code = 0;
      const char* reason = gzerror(file.get(), &code);
      return Error{ErrorCode::io,
                   fmt::format("cannot read {}: {}", name, code == Z_ERRNO ? std::strerror(errno) : reason)};
    }
    ended = got == 0;
    used += static_cast<std::size_t>(got);
    return {};
  }

  void give(std::size_t end, std::vector<Line>& lines) {
    std::string_view text(buffer.data() + done, end - done);
    ++number;
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (number == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    if (!without_blanks(text).empty()) lines.push_back({number, text});
  }
};

RowReader::RowReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RowReader::RowReader(RowReader&&) noexcept = default;
RowReader& RowReader::operator=(RowReader&&) noexcept = default;
RowReader::~RowReader() = default;

Result<RowReader> RowReader::open(const std::string& file) {
  auto impl = std::make_unique<Impl>();
  const bool standard = file == "-";
  impl->name = standard ? "standard input" : file;
  const int descriptor = standard ? dup(STDIN_FILENO) : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Error{ErrorCode::io, fmt::format("cannot read {}: {}", impl->name, std::strerror(errno))};
  impl->file.reset(gzdopen(descriptor, "rb"));
  if (impl->file == nullptr) {
    close(descriptor);
    return Error{ErrorCode::io, fmt::format("cannot read {}: out of memory", impl->name)};
  }
  return RowReader(std::move(impl));
}

Result<void> RowReader::next(std::vector<Line>& lines) {
  lines.clear();
  Impl& in = *impl_;
  while (lines.empty()) {
    if (in.ended && in.done == in.used) return {};
    if (!in.ended) {
      const auto filled = in.fill();
      if (!filled) return filled.error();
    }
    while (in.done < in.used) {
      const char* start = in.buffer.data() + in.done;
      const auto* newline = static_cast<const char*>(std::memchr(start, '\n', in.used - in.done));
      if (newline == nullptr) break;
      const auto end = static_cast<std::size_t>(newline - in.buffer.data());
      in.give(end, lines);
      in.done = end + 1;
    }
    if (in.ended && in.done < in.used) {  // a last line without an end
      in.give(in.used, lines);
      in.done = in.used;
    }
    if (lines.empty() && in.used - in.done > kLongestLine) {
      return Error{ErrorCode::bad_data, fmt::format("{}:{}: a line of more than {} bytes is no row of a table", in.name,
                                                    in.number + 1, kLongestLine)};
    }
  }
  return {};
}

Result<void> split_cells(std::string_view line, std::vector<Cell>& cells,
                         std::vector<std::unique_ptr<std::string>>& scratch) {
  const bool quotes = std::memchr(line.data(), '"', line.size()) != nullptr;
  std::size_t start = 0;
  while (true) {
    std::size_t end = 0;
    if (!quotes) {
      const auto* comma = static_cast<const char*>(std::memchr(line.data() + start, ',', line.size() - start));
      end = comma == nullptr ? line.size() : static_cast<std::size_t>(comma - line.data());
    } else {
      bool inside = false;
      for (end = start; end < line.size() && (inside || line[end] != ','); ++end) {
        if (line[end] == '"') inside = !inside;
      }
      if (inside) return Error{ErrorCode::bad_data, "a quote that is not closed on its line"};
    }
    const std::string_view raw = line.substr(start, end - start);
    std::string_view value = without_blanks(raw);
    if (quotes && value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
      if (value.find('"') != std::string_view::npos) {
        auto plain = std::make_unique<std::string>();
        for (std::size_t i = 0; i < value.size(); ++i) {
          plain->push_back(value[i]);
          if (value[i] == '"') ++i;  // a doubled quote is one
        }
        scratch.push_back(std::move(plain));
        value = *scratch.back();
      }
    }
    cells.push_back({raw, value});
    if (end >= line.size()) return {};
    start = end + 1;
  }
}

}  // namespace roofcal::cli
