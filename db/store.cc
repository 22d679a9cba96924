#include "db/store.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "db/run_writer.h"
#include "db/sample_row.h"
#include "db/sqlite.h"
#include "db/store_check.h"
#include "db/store_file.h"
#include "db/utc_text.h"

namespace roofcal {
namespace {

namespace fs = std::filesystem;
using sqlite::Statement;

constexpr std::string_view kFilter =
    "(?1 = '' OR gpu = ?1) AND (?2 = '' OR op = ?2) AND (?3 = '' OR framework = ?3) AND (?4 = '' OR version = ?4)";
constexpr std::string_view kKernelFilter = " AND (?5 = '' OR kernel = ?5)";

void bind(Statement& statement, const ClassFilter& filter) {
  statement.bind_text(1, filter.gpu);
  statement.bind_text(2, filter.op);
  statement.bind_text(3, filter.framework);
  statement.bind_text(4, filter.version);
}

bool fit_worthy(std::string_view flags) {
  return flags.find("failed") == std::string_view::npos && flags.find("throttled") == std::string_view::npos;
}

Error unknown_operator(const fs::path& file, std::string_view op) {
  return {ErrorCode::bad_data, fmt::format("{}: holds samples of operator '{}', which this version does not know: use "
                                           "the version that stored them",
                                           file.string(), op)};
}

// A damaged or foreign value, with the sample that holds it.
Error in_sample(const fs::path& file, std::int64_t id, const Error& error) {
  return {error.code, fmt::format("{}: sample {}: {}: `roofcal db check` says more", file.string(), id, error.message)};
}

Result<Run> read_run(const Statement& statement) {
  Run run;
  int column = 0;
  for (std::string* text : {&run.source, &run.origin, &run.content_hash, &run.gpu, &run.started_utc, &run.ended_utc}) {
    *text = statement.text(++column);
  }
  if (const auto read = read_json(statement.text(++column), run.extra); !read) return read.error();
  return run;
}

}  // namespace

struct Store::Impl {
  std::unique_ptr<sqlite::Database> database;
  Access access;

  Impl(std::unique_ptr<sqlite::Database> opened, Access how) : database(std::move(opened)), access(how) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    // The last one to close clears the write-ahead log away, unless it only reads. So that a copy of the file alone
    // holds everything, whoever is last, the log is copied into it here, as far as readers let it; it stays good
    // where that fails.
    if (access == Access::write) (void)database->execute("PRAGMA wal_checkpoint(PASSIVE)");
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const fs::path& file, Access access) {
  auto database = access == Access::write ? open_store_to_write(file) : open_store_to_read(file);
  if (!database) return database.error();
  return Store(std::make_unique<Impl>(*std::move(database), access));
}

Result<RunOutcome> Store::add_runs(const std::function<Result<void>(const RunSampleSink&)>& produce) {
  auto transaction = sqlite::Transaction::begin(*impl_->database);
  if (!transaction) return transaction.error();
  auto writer = RunWriter::create(*impl_->database);
  if (!writer) return writer.error();
  const auto produced =
      produce([&writer](const Run& run, const StoredSample& sample) { return writer->add(run, sample); });
  if (!produced) return produced.error();
  const auto outcome = writer->finish();
  if (!outcome) return outcome.error();
  if (const auto committed = transaction->commit(); !committed) return committed.error();
  return *outcome;
}

Result<RunOutcome> Store::add_run(const Run& run, const std::function<Result<void>(const SampleSink&)>& produce) {
  return add_runs([&](const RunSampleSink& sink) {
    return produce([&](const StoredSample& sample) { return sink(run, sample); });
  });
}

Result<std::vector<ClassSummary>> Store::classes(const ClassFilter& filter) const {
  // Counted on the index of class numbers alone, and joined afterwards.
  auto statement = impl_->database->prepare(
      fmt::format("SELECT {}, n FROM (SELECT class_id, count(*) AS n FROM samples GROUP BY class_id) JOIN classes ON "
                  "classes.id = class_id WHERE kind = 'operator' AND {}{}",
                  kClassColumns, kFilter, kKernelFilter));
  if (!statement) return statement.error();
  bind(*statement, filter);
  statement->bind_text(5, filter.kernel);
  std::vector<ClassSummary> out;
  for (;;) {
    const auto row = statement->step();
    if (!row) return row.error();
    if (!*row) break;
    auto key = read_class_row(*statement, 0).key();
    if (!key)
      return Error{key.error().code, fmt::format("{}: {}", impl_->database->file().string(), key.error().message)};
    out.push_back({*std::move(key), statement->integer(8)});
  }
  std::ranges::sort(out, {}, &ClassSummary::key);
  return out;
}

Result<std::vector<Sample>> Store::samples(const ClassKey& key) const {
  const fs::path& file = impl_->database->file();
  const Operator* op = find_operator(key.op);
  if (op == nullptr) return unknown_operator(file, key.op);
  const ShapeText shapes(*op);
  const ClassRow row = ClassRow::of(std::string(kOperatorSample), key);
  auto statement = impl_->database->prepare(
      "SELECT id, shape, time_s, flags FROM samples WHERE class_id = (SELECT id FROM classes WHERE kind = ? AND op = ? "
      "AND gpu = ? AND framework = ? AND version = ? AND kernel = ? AND attributes = ? AND cache = ?)");
  if (!statement) return statement.error();
  int index = 0;
  for (const std::string* text :
       {&row.kind, &row.op, &row.gpu, &row.framework, &row.version, &row.kernel, &row.attributes, &row.cache}) {
    statement->bind_text(++index, *text);
  }
  std::vector<Sample> out;
  for (;;) {
    const auto there = statement->step();
    if (!there) return there.error();
    if (!*there) break;
    if (!fit_worthy(statement->text(3))) continue;
    const auto shape = shapes.read(statement->text(1));
    if (!shape) return in_sample(file, statement->integer(0), shape.error());
    out.push_back({*shape, Seconds(statement->real(2))});
  }
  std::ranges::sort(
      out, [](const Sample& a, const Sample& b) { return a.shape != b.shape ? a.shape < b.shape : a.time < b.time; });
  return out;
}

Result<void> Store::for_each(const ClassFilter& filter,
                             const std::function<Result<void>(const Run&, const StoredSample&)>& visit) const {
  const fs::path& file = impl_->database->file();
  const auto snapshot = sqlite::Snapshot::take(*impl_->database);
  if (!snapshot) return snapshot.error();
  struct KnownClass {
    std::string kind;
    ClassKey key;
    std::optional<ShapeText> shapes;
  };
  std::map<std::int64_t, KnownClass> classes;
  auto statement = impl_->database->prepare(
      fmt::format("SELECT id, {} FROM classes WHERE {}{}", kClassColumns, kFilter, kKernelFilter));
  if (!statement) return statement.error();
  bind(*statement, filter);
  statement->bind_text(5, filter.kernel);
  for (;;) {
    const auto there = statement->step();
    if (!there) return there.error();
    if (!*there) break;
    const ClassRow row = read_class_row(*statement, 1);
    auto key = row.key();
    if (!key) return Error{key.error().code, fmt::format("{}: {}", file.string(), key.error().message)};
    KnownClass known{row.kind, *std::move(key), std::nullopt};
    if (row.kind == kOperatorSample) {
      const Operator* op = find_operator(row.op);
      if (op == nullptr) return unknown_operator(file, row.op);
      known.shapes.emplace(*op);
    }
    classes.emplace(statement->integer(0), std::move(known));
  }

  auto runs = impl_->database->prepare(
      "SELECT id, source, origin, file_hash, gpu, started_utc, ended_utc, extra FROM runs WHERE id = ?");
  if (!runs) return runs.error();
  auto samples = impl_->database->prepare(
      fmt::format("SELECT id, run_id, class_id, {} FROM samples ORDER BY id", sample_columns()));
  if (!samples) return samples.error();
  std::map<std::int64_t, Run> known_runs;
  for (;;) {
    const auto there = samples->step();
    if (!there) return there.error();
    if (!*there) return {};
    const auto known = classes.find(samples->integer(2));
    if (known == classes.end()) continue;
    auto run = known_runs.find(samples->integer(1));
    if (run == known_runs.end()) {
      runs->reset();
      runs->bind(1, samples->integer(1));
      const auto found = runs->step();
      if (!found) return found.error();
      auto read = *found ? read_run(*runs) : Result<Run>(Error{ErrorCode::bad_data, "its run is missing"});
      if (!read) return in_sample(file, samples->integer(0), read.error());
      run = known_runs.emplace(samples->integer(1), *std::move(read)).first;
    }
    const auto& [kind, key, shapes] = known->second;
    auto sample = sample_of(read_sample_row(*samples, 3), shapes ? &*shapes : nullptr);
    if (!sample) return in_sample(file, samples->integer(0), sample.error());
    sample->kind = kind;
    sample->key = key;
    if (const auto visited = visit(run->second, *sample); !visited) return visited;
  }
}

Result<void> Store::put_gpu(const std::string& name, const std::string& json) {
  auto statement = impl_->database->prepare(
      "INSERT INTO gpus(name, json, stored_utc) VALUES(?1, ?2, ?3) ON CONFLICT(name) DO UPDATE SET json = ?2, "
      "stored_utc = ?3");
  if (!statement) return statement.error();
  const std::string now = now_utc_text();
  statement->bind_text(1, name);
  statement->bind_text(2, json);
  statement->bind_text(3, now);
  return statement->run();
}

Result<std::map<std::string, std::string>> Store::gpus() const {
  auto statement = impl_->database->prepare("SELECT name, json FROM gpus");
  if (!statement) return statement.error();
  std::map<std::string, std::string> out;
  for (;;) {
    const auto row = statement->step();
    if (!row) return row.error();
    if (!*row) return out;
    out.emplace(statement->text(0), statement->text(1));
  }
}

Result<void> Store::put_calibration(const std::string& key, const std::string& digest, const std::string& blob) {
  // gpu, operator, framework and version, of which the operator ends where its attributes begin.
  std::array<std::string_view, 4> parts{};
  std::string_view rest = key;
  for (std::string_view& part : parts) {
    const auto end = std::min(rest.find('/'), rest.size());
    part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  parts[1] = parts[1].substr(0, parts[1].find('-'));
  auto statement = impl_->database->prepare(
      "INSERT INTO calibrations(gpu, op, framework, version, key, digest, created_utc, blob, hash) VALUES(?, ?, ?, ?, "
      "?, ?, ?, ?, ?)");
  if (!statement) return statement.error();
  for (int i = 0; i < 4; ++i) statement->bind_text(i + 1, parts[static_cast<std::size_t>(i)]);
  const std::string now = now_utc_text();
  const std::string hash = blob_hash(blob);
  statement->bind_text(5, key);
  statement->bind_text(6, digest);
  statement->bind_text(7, now);
  statement->bind_blob(8, blob);
  statement->bind_blob(9, hash);
  return statement->run();
}

Result<std::vector<Store::StoredCalibration>> Store::latest_calibrations(const ClassFilter& filter) const {
  auto statement = impl_->database->prepare(
      fmt::format("SELECT key, digest, created_utc, blob FROM calibrations WHERE id IN (SELECT max(id) FROM "
                  "calibrations GROUP BY key) AND {} ORDER BY key",
                  kFilter));
  if (!statement) return statement.error();
  bind(*statement, filter);
  std::vector<StoredCalibration> out;
  for (;;) {
    const auto row = statement->step();
    if (!row) return row.error();
    if (!*row) return out;
    out.push_back({std::string(statement->text(0)), std::string(statement->text(1)), std::string(statement->text(2)),
                   std::string(statement->text(3))});
  }
}

Result<StoreInfo> Store::info() const {
  StoreInfo info;
  const auto version = impl_->database->integer("PRAGMA user_version");
  if (!version) return version.error();
  info.schema_version = static_cast<int>(*version);
  const std::pair<std::string_view, std::int64_t*> counts[] = {
      {"SELECT count(*) FROM runs", &info.runs},
      {"SELECT count(*) FROM samples", &info.samples},
      {"SELECT count(*) FROM classes", &info.classes},
      {"SELECT count(*) FROM gpus", &info.gpus},
      {"SELECT count(*) FROM calibrations", &info.calibrations}};
  for (const auto& [sql, out] : counts) {
    const auto count = impl_->database->integer(sql);
    if (!count) return count.error();
    *out = *count;
  }
  std::error_code failure;
  for (const char* part : {"", "-wal"}) {
    const auto bytes = fs::file_size(impl_->database->file().string() + part, failure);
    if (!failure) info.file_bytes += static_cast<std::int64_t>(bytes);
  }
  return info;
}

Result<std::vector<std::string>> Store::check() const {
  const auto snapshot = sqlite::Snapshot::take(*impl_->database);
  if (!snapshot) return snapshot.error();
  return check_store(*impl_->database);
}

fs::path default_store_path() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
  };
  if (const std::string file = variable("ROOFCAL_DB"); !file.empty()) return file;
  if (const std::string data = variable("XDG_DATA_HOME"); !data.empty()) return fs::path(data) / "roofcal/roofcal.db";
  fs::path home = variable("HOME");
  if (home.empty()) {
    const passwd* user = getpwuid(getuid());
    if (user != nullptr) home = user->pw_dir;
  }
  return home / ".local/share/roofcal/roofcal.db";
}

}  // namespace roofcal
