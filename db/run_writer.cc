#include "db/run_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "db/utc_text.h"

namespace roofcal {
namespace {

Error bad(std::string message) { return Error{ErrorCode::bad_data, std::move(message)}; }

Result<void> check_text(std::string_view name, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return bad(fmt::format("{} holds a NUL byte", name));
  if (!is_utf8(text)) return bad(fmt::format("{} is not UTF-8 text", name));
  return {};
}

Result<void> check_figure(std::string_view name, const std::optional<double>& value) {
  if (value && !std::isfinite(*value)) return bad(fmt::format("{} {} is not a finite number", name, *value));
  return {};
}

Result<void> check_time(std::string_view name, std::string_view text) {
  if (text.empty() || is_utc_text(text)) return {};
  if (const auto fine = check_text(name, text); !fine) return fine;
  return bad(fmt::format("{} '{}' is no time in UTC like 2026-12-01T14:00:00Z", name, text));
}

template <class Values>
Result<void> check_names(std::string_view what, const Values& values) {
  for (const auto& [name, value] : values) {
    if (const auto fine = check_text(what, name); !fine) return fine;
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      if (const auto fine = check_text(name, value); !fine) return fine;
    }
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
      if (const auto fine = check_figure(name, value); !fine) return fine;
    }
  }
  return {};
}

// All of a list of checks, the first complaint of them.
Result<void> first_of(std::initializer_list<Result<void>> checks) {
  for (const auto& check : checks) {
    if (!check) return check;
  }
  return {};
}

Result<void> check_run(const Run& run) {
  return first_of({check_text("source", run.source), check_text("origin", run.origin),
                   check_text("content_hash", run.content_hash), check_text("gpu", run.gpu),
                   check_time("started_utc", run.started_utc), check_time("ended_utc", run.ended_utc),
                   check_names("a run's extra", run.extra)});
}

Result<void> check_class(const std::string& kind, const ClassKey& key, const Operator* op) {
  if (kind.empty() || key.op.empty() || key.gpu.empty()) return bad("a sample needs a kind, an operator and a GPU");
  if (const auto fine = first_of({check_text("kind", kind), check_text("op", key.op), check_text("gpu", key.gpu),
                                  check_text("framework", key.framework), check_text("version", key.version),
                                  check_text("kernel", key.kernel), check_names("attributes", key.attributes)});
      !fine) {
    return fine;
  }
  if (kind != kOperatorSample) return {};
  if (op == nullptr) return bad(fmt::format("operator '{}' is not known to this version", key.op));
  for (const AttributeField& attribute : op->attributes()) {
    if (!key.attributes.contains(attribute.name)) return bad(fmt::format("{} needs {}", key.op, attribute.name));
  }
  if (key.attributes.size() != op->attributes().size()) {
    return bad(fmt::format("{} has attributes that {} does not know", json_text(key.attributes), key.op));
  }
  return {};
}

Result<void> check_shape(const Operator& op, const Shape& shape) {
  if (shape.size() != op.fields().size()) {
    return bad(fmt::format("{} has {} sizes, not {}", op.name(), op.fields().size(), shape.size()));
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Field& field = op.fields()[i];
    if (shape[i] < field.min || shape[i] > field.max) {
      return bad(fmt::format("{} {} is outside {} .. {}", field.name, shape[i], field.min, field.max));
    }
  }
  return {};
}

Result<void> check_sample(const StoredSample& sample, const Operator* op) {
  const double time = sample.time.value();
  if (!(time > 0.0) || !std::isfinite(time)) return bad(fmt::format("time {} is not positive", time));
  if (op != nullptr) {
    if (!sample.sizes.empty()) return bad(fmt::format("a sample of {} has its sizes in its shape", op->name()));
    if (const auto fine = check_shape(*op, sample.shape); !fine) return fine;
  } else if (sample.shape.size() != 0) {
    return bad(fmt::format("a sample of kind '{}' has its sizes by name", sample.kind));
  }
  if (!std::ranges::all_of(sample.raw_s, [](double raw) { return std::isfinite(raw); })) {
    return bad("raw_s holds a value that is not finite");
  }
  return first_of({check_figure("p10_s", sample.p10_s), check_figure("p90_s", sample.p90_s),
                   check_figure("relative_error", sample.relative_error),
                   check_figure("sm_clock_hz", sample.sm_clock_hz), check_figure("power_w", sample.power_w),
                   check_figure("power_limit_w", sample.power_limit_w), check_text("launch_mode", sample.launch_mode),
                   check_text("layout", sample.layout), check_text("epilogue", sample.epilogue),
                   check_text("data_fill", sample.data_fill), check_text("algorithm", sample.algorithm),
                   check_text("flags", sample.flags), check_text("device", sample.device),
                   check_time("measured_utc", sample.measured_utc), check_names("sizes", sample.sizes),
                   check_names("metrics", sample.metrics), check_names("extra", sample.extra)});
}

std::string question_marks(std::size_t n) {
  std::string out = "?";
  while (--n > 0) out += ", ?";
  return out;
}

}  // namespace

Result<RunWriter> RunWriter::create(sqlite::Database& database) {
  RunWriter writer(database);
  writer.now_ = now_utc_text();
  const auto next = database.integer("SELECT max(id) + 1 FROM runs");
  if (!next) return next.error();
  writer.next_run_ = std::max<std::int64_t>(1, *next);
  const std::string sample =
      fmt::format("INSERT INTO samples(run_id, class_id, hash, {}) VALUES(?, ?, ?, {}) ON CONFLICT(hash) DO NOTHING",
                  sample_columns(), question_marks(kSampleColumns.size()));
  const std::pair<sqlite::Statement*, std::string> statements[] = {
      {&writer.insert_sample_, sample},
      {&writer.insert_class_,
       fmt::format("INSERT INTO classes({}) VALUES(?, ?, ?, ?, ?, ?, ?, ?) RETURNING id", kClassColumns)},
      {&writer.find_class_,
       "SELECT id FROM classes WHERE kind = ? AND op = ? AND gpu = ? AND framework = ? AND "
       "version = ? AND kernel = ? AND attributes = ? AND cache = ?"},
      {&writer.find_sample_, "SELECT 1 FROM samples WHERE hash = ?"},
      {&writer.insert_digest_, "INSERT INTO run_digests(run_id, samples, digest) VALUES(?, ?, ?)"},
      {&writer.insert_run_,
       "INSERT INTO runs(id, source, origin, file_hash, gpu, started_utc, ended_utc, extra, "
       "stored_utc) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"}};
  for (const auto& [statement, sql] : statements) {
    auto prepared = database.prepare(sql);
    if (!prepared) return prepared.error();
    *statement = *std::move(prepared);
  }
  return writer;
}

Result<RunWriter::OpenRun*> RunWriter::open_run(const Run& run, const std::string& gpu) {
  const auto is_this = [&](const OpenRun& open) {
    return open.run.gpu == (run.gpu.empty() ? gpu : run.gpu) && open.run.source == run.source &&
           open.run.origin == run.origin && open.run.content_hash == run.content_hash &&
           open.run.started_utc == run.started_utc && open.run.ended_utc == run.ended_utc &&
           open.run.extra == run.extra;
  };
  if (last_run_ < runs_.size() && is_this(runs_[last_run_])) return &runs_[last_run_];
  const auto found = std::ranges::find_if(runs_, is_this);
  last_run_ = static_cast<std::size_t>(found - runs_.begin());
  if (found == runs_.end()) {
    if (const auto fine = check_run(run); !fine) return fine.error();
    runs_.push_back({run, next_run_++, {}, false});
    if (run.gpu.empty()) runs_.back().run.gpu = gpu;
  }
  return &runs_[last_run_];
}

Result<void> RunWriter::write_run(OpenRun& open) {
  const Run& run = open.run;
  const std::string extra = json_text(run.extra);
  insert_run_.bind(1, open.id);
  int index = 1;
  for (const std::string* text : {&run.source, &run.origin, &run.content_hash, &run.gpu, &run.started_utc,
                                  &run.ended_utc, &extra, &std::as_const(now_)}) {
    insert_run_.bind_text(++index, *text);
  }
  open.written = true;
  return insert_run_.run();
}

Result<bool> RunWriter::is_stored(std::string_view hash) {
  find_sample_.bind_blob(1, hash);
  auto there = find_sample_.step();
  find_sample_.reset();
  return there;
}

Result<const RunWriter::KnownClass*> RunWriter::known_class(const StoredSample& sample) {
  if (last_class_ == nullptr || last_class_->first.second != sample.key || last_class_->first.first != sample.kind) {
    const ClassName name(sample.kind, sample.key);
    auto found = classes_.find(name);
    if (found == classes_.end()) {
      auto added = add_class(sample);
      if (!added) return added.error();
      found = classes_.emplace(name, *added).first;
    }
    last_class_ = &*found;
  }
  return &last_class_->second;
}

Result<RunWriter::KnownClass> RunWriter::add_class(const StoredSample& sample) {
  KnownClass known;
  if (sample.kind == kOperatorSample) known.op = find_operator(sample.key.op);
  if (const auto fine = check_class(sample.kind, sample.key, known.op); !fine) return fine.error();
  if (known.op != nullptr) known.shapes = &shapes_.try_emplace(sample.key.op, *known.op).first->second;
  const ClassRow row = ClassRow::of(sample.kind, sample.key);
  known.digest = row.digest();
  for (sqlite::Statement* statement : {&find_class_, &insert_class_}) {
    int index = 0;
    for (const std::string* text :
         {&row.kind, &row.op, &row.gpu, &row.framework, &row.version, &row.kernel, &row.attributes, &row.cache}) {
      statement->bind_text(++index, *text);
    }
    const auto there = statement->step();
    if (there && *there) known.id = statement->integer(0);
    statement->reset();
    if (!there) return there.error();
    if (*there) break;
  }
  return known;
}

Result<void> RunWriter::add(const Run& run, const StoredSample& sample) {
  const auto known = known_class(sample);
  if (!known) return known.error();
  if (const auto fine = check_sample(sample, (*known)->op); !fine) return fine;
  const auto opened = open_run(run, sample.key.gpu);
  if (!opened) return opened.error();
  OpenRun& open = **opened;

  const SampleRow row =
      sample_row(sample, (*known)->shapes != nullptr ? (*known)->shapes->write(sample.shape) : json_text(sample.sizes));
  const std::string hash = hasher_.hash(run.source, (*known)->digest, row);
  if (!open.written) {
    // A run is stored when it brings something new.
    const auto stored = is_stored(hash);
    if (!stored) return stored.error();
    if (*stored) {
      ++outcome_.already_there;
      return {};
    }
    if (const auto written = write_run(open); !written) return written;
  }
  insert_sample_.bind(1, open.id);
  insert_sample_.bind(2, (*known)->id);
  insert_sample_.bind_blob(3, hash);
  bind_sample_row(insert_sample_, 4, row);
  if (const auto done = insert_sample_.run(); !done) return done;
  if (database_->changes() == 0) {
    ++outcome_.already_there;
    return {};
  }
  ++outcome_.stored;
  open.digest.add(hash);
  return {};
}

Result<RunOutcome> RunWriter::finish() {
  for (OpenRun& open : runs_) {
    if (!open.written) continue;
    const std::int64_t samples = open.digest.samples();
    const Sha256Digest digest = open.digest.finish(open.run);
    insert_digest_.bind(1, open.id);
    insert_digest_.bind(2, samples);
    insert_digest_.bind_blob(3, bytes_of(digest));
    if (const auto done = insert_digest_.run(); !done) return done.error();
  }
  return outcome_;
}

}  // namespace roofcal
