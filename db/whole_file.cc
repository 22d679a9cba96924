#include "db/whole_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string_view>
#include <utility>

namespace roofcal {
namespace {

namespace fs = std::filesystem;

bool is_database(const fs::path& file) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  std::array<char, magic.size()> start{};
  std::ifstream in(file, std::ios::binary);
  return in.read(start.data(), start.size()) && std::string_view(start.data(), start.size()) == magic;
}

Error cannot(const fs::path& file, std::string_view why) {
  return {ErrorCode::io, fmt::format("{}: cannot be written ({})", file.string(), why)};
}

}  // namespace

Result<WholeFile> WholeFile::create(const fs::path& file) {
  std::error_code failure;
  const fs::file_status status = fs::status(file, failure);
  if (!fs::exists(status)) {
    return WholeFile(file, fmt::format("{}.{}.tmp", file.string(), getpid()));
  }
  if (fs::is_directory(status)) return cannot(file, "it is a folder");
  if (!fs::is_regular_file(status)) return WholeFile(file, file);
  if (is_database(file)) return cannot(file, "it is a database, which this would replace: name another file");
  const fs::path target = fs::canonical(file, failure);
  if (failure) return cannot(file, failure.message());
  return WholeFile(target, fmt::format("{}.{}.tmp", target.string(), getpid()));
}

WholeFile::WholeFile(fs::path file, fs::path unfinished) : file_(std::move(file)), unfinished_(std::move(unfinished)) {}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : file_(std::move(other.file_)),
      unfinished_(std::move(other.unfinished_)),
      done_(std::exchange(other.done_, true)) {}

WholeFile& WholeFile::operator=(WholeFile&& other) noexcept {
  if (this == &other) return *this;
  drop();
  file_ = std::move(other.file_);
  unfinished_ = std::move(other.unfinished_);
  done_ = std::exchange(other.done_, true);
  return *this;
}

WholeFile::~WholeFile() { drop(); }

void WholeFile::drop() noexcept {
  if (done_ || unfinished_ == file_) return;
  std::error_code ignored;  // what led here is what matters
  fs::remove(unfinished_, ignored);
  done_ = true;
}

Result<void> WholeFile::keep() {
  if (unfinished_ != file_) {
    std::error_code failure;
    fs::rename(unfinished_, file_, failure);
    if (failure) return cannot(file_, failure.message());
  }
  done_ = true;
  return {};
}

}  // namespace roofcal
