// Writes runs and their samples within one transaction of the store.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "db/sample_row.h"
#include "db/sqlite.h"
#include "db/store.h"

namespace roofcal {

class RunWriter {
 public:
  /// The transaction has begun, and is committed by the caller after finish().
  [[nodiscard]] static Result<RunWriter> create(sqlite::Database& database);

  [[nodiscard]] Result<void> add(const Run& run, const StoredSample& sample);
  /// Writes the digests of the runs, of which those that brought nothing new are not stored.
  [[nodiscard]] Result<RunOutcome> finish();

 private:
  struct OpenRun {
    Run run;
    std::int64_t id = 0;
    RunDigest digest;
    bool written = false;
  };
  struct KnownClass {
    std::int64_t id = 0;
    Sha256Digest digest{};
    const ShapeText* shapes = nullptr;  // null: no operator
    const Operator* op = nullptr;
  };
  using ClassName = std::pair<std::string, ClassKey>;

  explicit RunWriter(sqlite::Database& database) : database_(&database) {}
  [[nodiscard]] Result<OpenRun*> open_run(const Run& run, const std::string& gpu);
  [[nodiscard]] Result<void> write_run(OpenRun& open);
  [[nodiscard]] Result<bool> is_stored(std::string_view hash);
  [[nodiscard]] Result<const KnownClass*> known_class(const StoredSample& sample);
  [[nodiscard]] Result<KnownClass> add_class(const StoredSample& sample);

  sqlite::Database* database_;
  sqlite::Statement insert_sample_, find_sample_, insert_class_, find_class_, insert_run_, insert_digest_;
  std::string now_;
  std::int64_t next_run_ = 1;
  std::vector<OpenRun> runs_;
  std::size_t last_run_ = 0;
  std::map<ClassName, KnownClass> classes_;
  const std::pair<const ClassName, KnownClass>* last_class_ = nullptr;
  std::map<std::string, ShapeText, std::less<>> shapes_;
  SampleHasher hasher_;
  RunOutcome outcome_;
};

}  // namespace roofcal
