#include "db/migrations.h"

#include <fmt/format.h>

#include <array>

namespace roofcal {
namespace {

// Runs, classes and samples are append-only; triggers see to that for every program that opens the file. Texts that
// hold names and values are JSON. Times are UTC, ISO 8601. A NULL is "not known".
constexpr std::string_view kFirst = R"sql(
CREATE TABLE runs(
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  origin TEXT NOT NULL,
  file_hash TEXT NOT NULL,       -- SHA-256 of an imported file; empty for a measurement
  gpu TEXT NOT NULL,
  started_utc TEXT NOT NULL,
  ended_utc TEXT NOT NULL,
  extra TEXT NOT NULL CHECK(json_valid(extra)),
  stored_utc TEXT NOT NULL
) STRICT;

-- Written last, when a run's samples are all there.
CREATE TABLE run_digests(
  run_id INTEGER PRIMARY KEY REFERENCES runs(id),
  samples INTEGER NOT NULL,
  digest BLOB NOT NULL           -- of the run's fields and of its samples' hashes in order
) STRICT;

CREATE TABLE classes(
  id INTEGER PRIMARY KEY,
  op TEXT NOT NULL,
  gpu TEXT NOT NULL,
  framework TEXT NOT NULL,
  version TEXT NOT NULL,
  kernel TEXT NOT NULL,
  attributes TEXT NOT NULL CHECK(json_valid(attributes)),
  cache TEXT NOT NULL CHECK(cache IN ('hot', 'cold'))
) STRICT;
CREATE UNIQUE INDEX classes_key ON classes(op, gpu, framework, version, kernel, attributes, cache);

CREATE TABLE samples(
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  class_id INTEGER NOT NULL REFERENCES classes(id),
  hash BLOB NOT NULL UNIQUE,     -- of source, class and all that follows
  shape TEXT NOT NULL,           -- JSON: sizes by name
  time_s REAL NOT NULL CHECK(time_s > 0 AND time_s < 9e999),  -- median
  count INTEGER,                 -- repeats behind the median
  p10_s REAL,
  p90_s REAL,
  relative_error REAL,           -- standard error over mean
  raw_s BLOB,                    -- float64, little-endian
  sm_clock_hz REAL,
  power_w REAL,
  power_limit_w REAL,
  launch_mode TEXT,
  layout TEXT,
  epilogue TEXT,
  batch_count INTEGER,
  data_fill TEXT,
  algorithm TEXT,
  flags TEXT,
  extra TEXT                     -- JSON
) STRICT;
CREATE INDEX samples_class ON samples(class_id);

CREATE TABLE gpus(
  name TEXT PRIMARY KEY,
  json TEXT NOT NULL CHECK(json_valid(json)),
  stored_utc TEXT NOT NULL
) STRICT;

CREATE TABLE calibrations(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  gpu TEXT NOT NULL,
  op TEXT NOT NULL,
  framework TEXT NOT NULL,
  version TEXT NOT NULL,
  digest TEXT NOT NULL,          -- of the samples and options that it was made from
  created_utc TEXT NOT NULL,
  blob BLOB NOT NULL,
  hash BLOB NOT NULL             -- of the blob
) STRICT;
CREATE INDEX calibrations_key ON calibrations(key);

CREATE TRIGGER samples_update BEFORE UPDATE ON samples BEGIN SELECT RAISE(ABORT, 'samples are append-only'); END;
CREATE TRIGGER samples_delete BEFORE DELETE ON samples BEGIN SELECT RAISE(ABORT, 'samples are append-only'); END;
CREATE TRIGGER runs_update BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'runs are append-only'); END;
CREATE TRIGGER runs_delete BEFORE DELETE ON runs BEGIN SELECT RAISE(ABORT, 'runs are append-only'); END;
CREATE TRIGGER run_digests_update BEFORE UPDATE ON run_digests
  BEGIN SELECT RAISE(ABORT, 'runs are append-only'); END;
CREATE TRIGGER run_digests_delete BEFORE DELETE ON run_digests
  BEGIN SELECT RAISE(ABORT, 'runs are append-only'); END;
CREATE TRIGGER classes_update BEFORE UPDATE ON classes BEGIN SELECT RAISE(ABORT, 'classes are append-only'); END;
CREATE TRIGGER classes_delete BEFORE DELETE ON classes BEGIN SELECT RAISE(ABORT, 'classes are append-only'); END;
)sql";

// Samples of other kinds than one operator: a step, a serving run, a kernel by name. What they measured beside a time
// has a place, and so have the nodes that took part, the device, and when.
constexpr std::string_view kOtherKinds = R"sql(
ALTER TABLE classes ADD COLUMN kind TEXT NOT NULL DEFAULT 'operator';
DROP INDEX classes_key;
CREATE UNIQUE INDEX classes_key ON classes(kind, op, gpu, framework, version, kernel, attributes, cache);
ALTER TABLE samples ADD COLUMN metrics TEXT;
ALTER TABLE samples ADD COLUMN nodes INTEGER;
ALTER TABLE samples ADD COLUMN device TEXT;
ALTER TABLE samples ADD COLUMN measured_utc TEXT;
)sql";

constexpr std::array<std::string_view, 2> kMigrations{kFirst, kOtherKinds};

}  // namespace

std::span<const std::string_view> migrations() { return kMigrations; }
int newest_schema_version() { return static_cast<int>(kMigrations.size()); }

Result<void> migrate(sqlite::Database& database) {
  auto transaction = sqlite::Transaction::begin(database);
  if (!transaction) return transaction.error();
  // Asked under the lock: another process may have been faster.
  const auto version = database.integer("PRAGMA user_version");
  if (!version) return version.error();
  if (*version >= newest_schema_version()) return transaction->commit();
  for (const std::string_view step : migrations().subspan(static_cast<std::size_t>(*version))) {
    if (const auto done = database.execute(std::string(step)); !done) return done.error();
  }
  const auto marked = database.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, newest_schema_version()));
  if (!marked) return marked.error();
  return transaction->commit();
}

}  // namespace roofcal
