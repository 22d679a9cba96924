// A file that appears under its name when it is whole, and not at all otherwise.
#pragma once

#include <filesystem>

#include "core/result.h"

namespace roofcal {

class WholeFile {
 public:
  /// Where an older file is replaced, it stays until keep(). A link is followed. What is no regular file (/dev/stdout,
  /// a pipe) is written to as it is. Refused: a folder, and a SQLite database, which no text should ever replace.
  [[nodiscard]] static Result<WholeFile> create(const std::filesystem::path& file);

  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&& other) noexcept;
  ~WholeFile();  ///< without keep(), what was written goes

  /// What to write to; close it before keep().
  [[nodiscard]] const std::filesystem::path& unfinished() const { return unfinished_; }
  [[nodiscard]] Result<void> keep();

 private:
  WholeFile(std::filesystem::path file, std::filesystem::path unfinished);
  void drop() noexcept;

  std::filesystem::path file_, unfinished_;
  bool done_ = false;
};

}  // namespace roofcal
