#include "db/store_check.h"

#include <fmt/format.h>

#include <map>

#include "db/sample_row.h"

namespace roofcal {
namespace {

using sqlite::Database;
using sqlite::Statement;

// Beyond that many a file is damaged as a whole; the rest are counted.
constexpr std::size_t kMostFindings = 100;

class Check {
 public:
  explicit Check(const Database& database) : database_(database) {}

  Result<void> sqlite_itself() {
    return each("PRAGMA integrity_check", [this](const Statement& row) {
      if (row.text(0) != "ok") find(fmt::format("SQLite: {}", row.text(0)));
    });
  }

  Result<void> foreign_keys() {
    return each("PRAGMA foreign_key_check", [this](const Statement& row) {
      find(fmt::format("{} row {} refers to a row of {} that is missing", row.text(0), row.integer(1), row.text(2)));
    });
  }

  Result<void> samples_and_runs() {
    struct KnownRun {
      Run run;
      std::int64_t samples = 0;
      std::string digest;
      RunDigest computed;
    };
    std::map<std::int64_t, KnownRun> runs;
    std::map<std::int64_t, Sha256Digest> classes;
    auto read = each(
        "SELECT id, samples, digest, source, origin, file_hash, gpu, started_utc, ended_utc, extra FROM runs LEFT JOIN "
        "run_digests ON run_id = id",
        [&](const Statement& row) {
          const auto text = [&](int i) { return std::string(row.text(i)); };
          KnownRun known{{text(3), text(4), text(5), text(6), text(7), text(8), {}}, row.integer(1), text(2), {}};
          if (!read_json(row.text(9), known.run.extra)) find(fmt::format("run {}: extra is no JSON", row.integer(0)));
          runs.emplace(row.integer(0), std::move(known));
        });
    if (!read) return read;
    read = each(fmt::format("SELECT id, {} FROM classes", kClassColumns),
                [&](const Statement& row) { classes.emplace(row.integer(0), read_class_row(row, 1).digest()); });
    if (!read) return read;

    SampleHasher hasher;
    read = each(fmt::format("SELECT id, run_id, class_id, hash, {} FROM samples ORDER BY id", sample_columns()),
                [&](const Statement& row) {
                  const auto run = runs.find(row.integer(1));
                  const auto known = classes.find(row.integer(2));
                  if (run == runs.end() || known == classes.end()) return;  // the foreign keys say so
                  run->second.computed.add(row.text(3));
                  if (hasher.hash(run->second.run.source, known->second, read_sample_row(row, 4)) != row.text(3)) {
                    find(fmt::format("sample {}: differs from what was stored", row.integer(0)));
                  }
                });
    if (!read) return read;
    for (auto& [id, known] : runs) {
      const std::int64_t there = known.computed.samples();
      if (there != known.samples) {
        find(fmt::format("run {}: {} of its {} samples are there", id, there, known.samples));
      } else if (bytes_of(known.computed.finish(known.run)) != known.digest) {
        find(fmt::format("run {}: its record or its list of samples differs from what was stored", id));
      }
    }
    return {};
  }

  Result<void> calibrations() {
    return each("SELECT id, key, blob, hash FROM calibrations", [this](const Statement& row) {
      if (blob_hash(row.text(2)) != row.text(3)) {
        find(fmt::format("calibration {} of {}: differs from what was stored", row.integer(0), row.text(1)));
      }
    });
  }

  void find(std::string finding) {
    ++count_;
    if (findings_.size() < kMostFindings) findings_.push_back(std::move(finding));
  }

  [[nodiscard]] std::vector<std::string> findings() && {
    if (count_ > findings_.size()) findings_.push_back(fmt::format("{} more", count_ - findings_.size()));
    return std::move(findings_);
  }

 private:
  template <class Visit>
  Result<void> each(std::string_view sql, const Visit& visit) {
    auto statement = database_.prepare(sql);
    if (!statement) return statement.error();
    for (;;) {
      const auto row = statement->step();
      if (!row) return row.error();
      if (!*row) return {};
      visit(*statement);
    }
  }

  const Database& database_;
  std::vector<std::string> findings_;
  std::size_t count_ = 0;
};

}  // namespace

std::string blob_hash(std::string_view bytes) {
  Sha256 sha;
  sha.add(bytes);
  return std::string(bytes_of(sha.finish()));
}

Result<std::vector<std::string>> check_store(const Database& database) {
  Check check(database);
  for (const auto part :
       {&Check::sqlite_itself, &Check::foreign_keys, &Check::samples_and_runs, &Check::calibrations}) {
    const auto done = (check.*part)();
    if (done) continue;
    if (done.error().code != ErrorCode::bad_data) return done.error();  // busy, or no permission: nothing is known
    check.find(done.error().message);
  }
  return std::move(check).findings();
}

}  // namespace roofcal
