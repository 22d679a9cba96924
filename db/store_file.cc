#include "db/store_file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>
#include <thread>

#include "db/migrations.h"

namespace roofcal {
namespace {

namespace fs = std::filesystem;
using sqlite::Database;
using DatabasePtr = std::unique_ptr<Database>;

// What lies at a path, told from the file's first bytes alone: opening a file by SQLite may already write beside it.
enum class Found { nothing, store, unknown };

// The header of an SQLite file, https://www.sqlite.org/fileformat.html, section 1.3.
class Header {
 public:
  static constexpr std::size_t kBytes = 100;
  explicit Header(const std::array<char, kBytes>& bytes) : bytes_(bytes) {}

  [[nodiscard]] bool is_sqlite() const { return std::memcmp(bytes_.data(), "SQLite format 3", 16) == 0; }
  [[nodiscard]] std::uint32_t user_version() const { return number(60); }
  [[nodiscard]] std::uint32_t application_id() const { return number(68); }
  /// Bytes of the whole file; 0 when its last writer did not keep count.
  [[nodiscard]] std::uint64_t file_bytes() const {
    const std::uint32_t page = number(16) >> 16U;
    return number(24) == number(92) ? std::uint64_t{page == 1 ? 65536 : page} * number(28) : 0;
  }

 private:
  [[nodiscard]] std::uint32_t number(std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i) value = (value << 8U) | static_cast<unsigned char>(bytes_[i]);
    return value;
  }
  const std::array<char, kBytes>& bytes_;
};

Error newer(const fs::path& file, std::int64_t version) {
  return {ErrorCode::bad_data,
          fmt::format("{}: written by a newer roofcal (schema {}, this one knows up to {}): update roofcal, or name "
                      "another store with --db",
                      file.string(), version, newest_schema_version())};
}

Error foreign(const fs::path& file, std::string_view what) {
  return {ErrorCode::bad_data,
          fmt::format("{}: is {}, not a store of roofcal: name another file with --db", file.string(), what)};
}

bool has_content(const fs::path& file) {
  std::error_code failure;
  const auto bytes = fs::file_size(file, failure);
  return !failure && bytes > 0;
}

// A journal beside the file: what the file itself holds is not the whole truth.
bool has_wal(const fs::path& file) { return has_content(file.string() + "-wal"); }
bool has_journal(const fs::path& file) { return has_wal(file) || has_content(file.string() + "-journal"); }

Result<Found> look_at(const fs::path& file) {
  std::error_code failure;
  const fs::file_status status = fs::status(file, failure);
  if (!fs::exists(status)) return Found::nothing;
  if (fs::is_directory(status)) return foreign(file, "a folder");
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return Error{ErrorCode::io, fmt::format("{}: the store cannot be read ({})", file.string(), std::strerror(errno))};
  }
  std::array<char, Header::kBytes> bytes{};
  in.read(bytes.data(), bytes.size());
  const auto got = in.gcount();
  const Header header(bytes);
  const bool marked = got == static_cast<std::streamsize>(Header::kBytes) && header.is_sqlite() &&
                      header.application_id() == static_cast<std::uint32_t>(kApplicationId);
  if (marked && header.user_version() > static_cast<std::uint32_t>(newest_schema_version())) {
    return newer(file, header.user_version());
  }
  if (has_journal(file)) return Found::unknown;
  if (got == 0) return Found::nothing;
  if (got < static_cast<std::streamsize>(Header::kBytes) || !header.is_sqlite()) {
    return foreign(file, "no SQLite file");
  }
  if (!marked) return foreign(file, "another program's SQLite file");
  const auto size = fs::file_size(file, failure);
  if (!failure && size < header.file_bytes()) {
    return Error{ErrorCode::bad_data,
                 fmt::format("{}: the store is damaged ({} of its {} bytes are there): put a copy back, or move it "
                             "away and import again",
                             file.string(), size, header.file_bytes())};
  }
  return Found::store;
}

// The schema's version, of a file that SQLite has opened; 0 for one without content. The file may be in the making by
// another process: all is asked of one state of it.
Result<std::int64_t> version_of(Database& database) {
  std::int64_t application = 0;
  std::int64_t version = 0;
  std::int64_t tables = 0;
  Result<void> read = database.execute("BEGIN");
  for (const auto& [sql, out] :
       {std::pair("PRAGMA application_id", &application), std::pair("PRAGMA user_version", &version),
        std::pair("SELECT count(*) FROM sqlite_master", &tables)}) {
    if (!read) break;
    const auto value = database.integer(sql);
    if (!value) read = value.error();
    *out = value ? *value : 0;
  }
  (void)database.execute("ROLLBACK");  // nothing was written; without a transaction there is nothing to end
  if (!read) return read.error();
  if (application != kApplicationId) {
    if (tables > 0 || application != 0) return foreign(database.file(), "another program's SQLite file");
    return 0;
  }
  if (version > newest_schema_version()) return newer(database.file(), version);
  return version;
}

// SQLite does not wait for others when it changes the journal's mode.
Result<void> use_wal(Database& database) {
  constexpr int kTries = 600;
  for (int i = 0;; ++i) {
    const auto done = database.execute("PRAGMA journal_mode = WAL");
    if (done || i == kTries) return done;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace

Result<DatabasePtr> open_store_to_write(const fs::path& file) {
  const auto found = look_at(file);
  if (!found) return found.error();
  if (*found == Found::nothing && file.has_parent_path()) {
    std::error_code failure;
    fs::create_directories(file.parent_path(), failure);
    if (failure) {
      return Error{ErrorCode::io, fmt::format("{}: cannot make the folder ({}): name another store with --db",
                                              file.parent_path().string(), failure.message())};
    }
  }
  if (*found == Found::unknown && has_wal(file)) {
    // A newer roofcal may be at work, whose version is in the WAL so far. One that only reads leaves all as it is.
    const auto look = Database::open(file, Database::Mode::read);
    if (!look) return look.error();
    if (const auto version = version_of(**look); !version) return version.error();
  }
  auto database = Database::open(file, *found == Found::nothing ? Database::Mode::create : Database::Mode::write);
  if (!database) return database.error();
  const auto version = version_of(**database);
  if (!version) return version.error();
  if (const auto set = (*database)->execute("PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; "
                                            "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536");
      !set) {
    return set.error();
  }
  if (*version < newest_schema_version()) {
    // A new file gets its schema under SQLite's roll-back journal, so that the file alone says at any time what it is.
    if (const auto migrated = migrate(**database); !migrated) return migrated.error();
  }
  if (const auto set = use_wal(**database); !set) return set.error();
  return database;
}

Result<DatabasePtr> open_store_to_read(const fs::path& file) {
  const auto found = look_at(file);
  if (!found) return found.error();
  if (*found == Found::nothing) {
    return Error{ErrorCode::io, fmt::format("{}: there is no store: `roofcal import FILE` makes one", file.string())};
  }
  auto database = Database::open(file, Database::Mode::read);
  if (!database) return database.error();
  auto version = version_of(**database);
  if (!version && version.error().code == ErrorCode::io && !has_journal(file)) {
    // On a medium that cannot be written, SQLite cannot keep its lock files, and nobody can write either.
    database = Database::open(file, Database::Mode::immutable);
    if (!database) return database.error();
    version = version_of(**database);
  }
  if (!version) return version.error();
  if (*version < newest_schema_version()) {
    database = open_store_to_write(file);
    if (!database) return database.error();
    database = Database::open(file, Database::Mode::read);
    if (!database) return database.error();
  }
  return database;
}

}  // namespace roofcal
