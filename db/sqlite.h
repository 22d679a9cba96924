// SQLite behind Result: connections and prepared statements that clean up after themselves.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace roofcal::sqlite {

class Database;

/// A prepared statement. Bound texts and blobs must live until the statement has been stepped.
class Statement {
 public:
  Statement() = default;

  void bind(int index, std::int64_t value) { sqlite3_bind_int64(statement_.get(), index, value); }
  void bind(int index, double value) { sqlite3_bind_double(statement_.get(), index, value); }
  void bind_text(int index, std::string_view text);
  void bind_blob(int index, std::string_view bytes);
  void bind_null(int index) { sqlite3_bind_null(statement_.get(), index); }

  /// Whether there is a row. Start again with reset().
  [[nodiscard]] Result<bool> step();
  void reset() { sqlite3_reset(statement_.get()); }
  /// For statements without rows: step, then reset.
  [[nodiscard]] Result<void> run();

  [[nodiscard]] int type(int column) const { return sqlite3_column_type(statement_.get(), column); }
  [[nodiscard]] bool is_null(int column) const { return type(column) == SQLITE_NULL; }
  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  [[nodiscard]] double real(int column) const { return sqlite3_column_double(statement_.get(), column); }
  /// Text or blob, valid until the next step.
  [[nodiscard]] std::string_view text(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const Database* database_ = nullptr;
};

class Database {
 public:
  enum class Mode {
    read,
    immutable,  ///< read, on a medium where SQLite cannot keep its lock files
    write,
    create
  };

  [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file, Mode mode);

  [[nodiscard]] Result<void> execute(const std::string& sql);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const;
  /// The first column of the first row; 0 when there is none.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view sql) const;
  /// Rows that the last statement changed.
  [[nodiscard]] int changes() const { return sqlite3_changes(handle_.get()); }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] Error error() const { return error(sqlite3_extended_errcode(handle_.get())); }

 private:
  explicit Database(std::filesystem::path file) : file_(std::move(file)) {}
  [[nodiscard]] Error error(int code) const;

  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// While it lives, all that is read is of one moment. They may be nested.
class Snapshot {
 public:
  [[nodiscard]] static Result<Snapshot> take(Database& database);
  Snapshot(Snapshot&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Snapshot& operator=(Snapshot&&) = delete;
  ~Snapshot();

 private:
  explicit Snapshot(Database& database) : database_(&database) {}
  Database* database_;
};

/// Rolls back when left without a commit.
class Transaction {
 public:
  /// Takes the write lock at once, waiting for other writers.
  [[nodiscard]] static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  [[nodiscard]] Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace roofcal::sqlite
