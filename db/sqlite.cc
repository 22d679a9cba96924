#include "db/sqlite.h"

#include <fmt/format.h>

namespace roofcal::sqlite {
namespace {

// How long a writer waits for another: an import of some million rows.
constexpr int kBusyTimeoutMs = 120'000;

// A path as an URI: what has a meaning there is written as %xx.
std::string uri_of(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri.push_back(c);
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

void Statement::bind_text(int index, std::string_view text) {
  // A null pointer would bind NULL, which an empty text is not.
  sqlite3_bind_text64(statement_.get(), index, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}

void Statement::bind_blob(int index, std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), index, bytes.data() == nullptr ? "" : bytes.data(), bytes.size(),
                      SQLITE_STATIC);
}

Result<bool> Statement::step() {
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return database_->error();
  }
}

Result<void> Statement::run() {
  const auto stepped = step();
  reset();
  if (!stepped) return stepped.error();
  return {};
}

std::string_view Statement::text(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  return data == nullptr
             ? std::string_view()
             : std::string_view(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& file, Mode mode) {
  std::unique_ptr<Database> database(new Database(file));
  int flags = SQLITE_OPEN_READONLY;
  if (mode == Mode::immutable) flags |= SQLITE_OPEN_URI;
  if (mode == Mode::write) flags = SQLITE_OPEN_READWRITE;
  if (mode == Mode::create) flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  // A name that begins with "file:" or is ":memory:" is a file's all the same.
  const std::string name = mode == Mode::immutable ? uri_of(file) : std::filesystem::absolute(file).string();
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  database->handle_.reset(handle);
  if (code != SQLITE_OK) return database->error(code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  return database;
}

Result<void> Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) const {
  Statement statement;
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()), 0, &prepared, nullptr);
  statement.statement_.reset(prepared);
  statement.database_ = this;
  if (code != SQLITE_OK) return error();
  return statement;
}

Result<std::int64_t> Database::integer(std::string_view sql) const {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const auto row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : 0;
}

Error Database::error(int code) const {
  const std::string file = file_.string();
  const char* said = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_.get());
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::bad_data, fmt::format("{}: the store is damaged ({}): put a copy back, or move it away and "
                                               "import again",
                                               file, said)};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::io, fmt::format("{}: another program keeps the store busy: try again when it is done", file)};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      return {ErrorCode::io, fmt::format("{}: the store cannot be opened ({}): see the rights of the file and its "
                                         "folder, or name another with --db",
                                         file, said)};
    case SQLITE_FULL:
      return {ErrorCode::io, fmt::format("{}: the disk is full", file)};
    default:
      return {ErrorCode::io, fmt::format("{}: {}", file, said)};
  }
}

Result<Snapshot> Snapshot::take(Database& database) {
  if (const auto begun = database.execute("SAVEPOINT snapshot"); !begun) return begun.error();
  return Snapshot(database);
}

Snapshot::~Snapshot() {
  // Nothing was written that could fail to be.
  if (database_ != nullptr) (void)database_->execute("RELEASE snapshot");
}

Result<Transaction> Transaction::begin(Database& database) {
  if (const auto begun = database.execute("BEGIN IMMEDIATE"); !begun) return begun.error();
  return Transaction(database);
}

Transaction::~Transaction() {
  // A failed roll-back means that SQLite rolled back itself.
  if (database_ != nullptr) (void)database_->execute("ROLLBACK");
}

Result<void> Transaction::commit() {
  if (const auto committed = database_->execute("COMMIT"); !committed) return committed.error();
  database_ = nullptr;
  return {};
}

}  // namespace roofcal::sqlite
