// `validate`: predicts every row of measurement files and says how far off that was. Stores nothing.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "cli/error_figures.h"
#include "cli/field_text.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "db/import.h"
#include "db/whole_file.h"

namespace roofcal::cli {
namespace {

constexpr std::size_t kBlock = 1024;

struct Options {
  std::vector<std::string> files;
  std::string gpu;
  std::string rows;
};

// What the report groups by; attributes other than the dtype are told apart when predicting, not here.
struct GroupKey {
  std::string gpu, op, dtype, framework, version, kernel;
  friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
};

GroupKey group_of(const ClassKey& key) {
  const auto dtype = key.attributes.find("dtype");
  return {key.gpu,       key.op,      dtype == key.attributes.end() ? std::string() : dtype->second,
          key.framework, key.version, key.kernel};
}

// Each row with its prediction, as CSV. Columns are those of the operators in the files.
class RowsFile {
 public:
  static Result<RowsFile> open(const std::string& file, std::set<std::string> operators) {
    auto place = WholeFile::create(file);
    if (!place) return place.error();
    RowsFile out(file, *std::move(place));
    out.out_ = std::make_unique<std::ofstream>(out.place_.unfinished(), std::ios::binary | std::ios::trunc);
    if (!*out.out_) return Error{ErrorCode::io, fmt::format("cannot write {}", file)};
    std::set<std::string> attributes;
    for (const std::string& name : operators) {
      const Operator& op = *find_operator(name);
      for (const Field& field : op.fields()) {
        if (std::ranges::find(out.fields_, field.name) == out.fields_.end()) out.fields_.push_back(field.name);
      }
      for (const AttributeField& attribute : op.attributes()) attributes.emplace(attribute.name);
    }
    out.attributes_.assign(attributes.begin(), attributes.end());
    *out.columns_ = {{"file", ""}, {"line", ""}, {"gpu", ""}, {"op", ""}};
    for (const std::string& attribute : out.attributes_) out.columns_->push_back({column_name(attribute), ""});
    for (const std::string_view key : {"framework", "version", "kernel", "cache"}) {
      out.columns_->push_back({std::string(key), ""});
    }
    for (const std::string_view field : out.fields_) out.columns_->push_back({column_name(field), ""});
    for (const std::string_view key : {"measured_s", "time_s", "lo_s", "hi_s", "error", "provenance"}) {
      out.columns_->push_back({std::string(key), ""});
    }
    out.stream_ = std::make_unique<report::RecordStream>(*out.columns_, report::Format::csv, *out.out_);
    return out;
  }

  /// `answer` null: the row has none.
  void add(const std::string& file, std::int64_t line, const ClassKey& key, const Sample& sample,
           const Answer* answer) {
    const Operator& op = *find_operator(key.op);
    report::Record record{file, line, key.gpu, key.op};
    for (const std::string& name : attributes_) {
      const auto found = key.attributes.find(name);
      record.push_back(found == key.attributes.end() ? report::Value() : report::Value(found->second));
    }
    for (const std::string& text : {key.framework, key.version, key.kernel, std::string(to_string(key.cache))}) {
      record.emplace_back(text);
    }
    for (const std::string_view name : fields_) {
      const auto field = std::ranges::find(op.fields(), name, &Field::name);
      record.push_back(field == op.fields().end()
                           ? report::Value()
                           : report::Value(print_field(
                                 *field, sample.shape[static_cast<std::size_t>(field - op.fields().begin())])));
    }
    record.emplace_back(sample.time.value());
    if (answer != nullptr) {
      const report::Record told{answer->time.value(), answer->lo.value(), answer->hi.value(),
                                answer->time / sample.time - 1.0, std::string(to_string(answer->provenance))};
      record.insert(record.end(), told.begin(), told.end());
    } else {
      record.resize(record.size() + 5);
    }
    stream_->add(record);
  }

  Result<void> close() {
    out_->close();
    if (!*out_) return Error{ErrorCode::io, fmt::format("cannot write {}", name_)};
    return place_.keep();
  }

 private:
  RowsFile(std::string name, WholeFile place) : name_(std::move(name)), place_(std::move(place)) {}

  std::string name_;
  WholeFile place_;
  std::unique_ptr<std::ofstream> out_;
  std::vector<std::string_view> fields_;
  std::vector<std::string> attributes_;
  std::unique_ptr<std::vector<report::Column>> columns_ = std::make_unique<std::vector<report::Column>>();
  std::unique_ptr<report::RecordStream> stream_;
};

// Rows of one kernel class that wait to be predicted together.
struct Pending {
  std::shared_ptr<const Resolution> resolution;  // null: nothing answers
  std::vector<Shape> shapes;
  std::vector<Seconds> times;
  std::vector<std::int64_t> lines;
  std::vector<Answer> answers;
};

class Validation {
 public:
  Validation(Session& session, const Predictor& predictor, std::optional<RowsFile> rows)
      : session_(session), predictor_(predictor), rows_(std::move(rows)) {}

  Result<void> add(const std::string& file, std::int64_t line, const StoredSample& sample) {
    if (sample.kind != kOperatorSample) {
      ++others_;
      return {};
    }
    file_ = file;
    auto found = classes_.find(sample.key);
    if (found == classes_.end()) {
      const auto resolved = resolve(sample.key);
      if (!resolved) return resolved.error();
      found = classes_.emplace(sample.key, Pending{*resolved, {}, {}, {}, {}}).first;
    }
    Pending& pending = found->second;
    pending.shapes.push_back(sample.shape);
    pending.times.push_back(sample.time);
    pending.lines.push_back(line);
    if (pending.shapes.size() >= kBlock) return flush(found->first, pending);
    return {};
  }

  Result<void> end_of_file() {
    for (auto& [key, pending] : classes_) {
      const auto flushed = flush(key, pending);
      if (!flushed) return flushed.error();
    }
    return {};
  }

  Result<int> finish() {
    if (others_ > 0)
      session_.warn(fmt::format("{} samples of whole steps or runs left out: only operators are predicted", others_));
    if (rows_) {
      const auto closed = rows_->close();
      if (!closed) return closed.error();
    }
    ErrorFigures overall;
    report::Report out;
    out.columns = {{"gpu", "gpu"},         {"op", "op"},        {"dtype", "dtype"}, {"framework", "framework"},
                   {"version", "version"}, {"kernel", "kernel"}};
    const auto figures = ErrorFigures::columns();
    out.columns.insert(out.columns.end(), figures.begin(), figures.end());
    for (const auto& [key, group] : groups_) {
      report::Record record{key.gpu,       key.op,      key.dtype.empty() ? report::Value() : report::Value(key.dtype),
                            key.framework, key.version, key.kernel};
      const report::Record values = group.record();
      record.insert(record.end(), values.begin(), values.end());
      out.records.push_back(std::move(record));
      overall.add(group);
    }
    if (groups_.size() > 1) {
      report::Record total{"overall", {}, {}, {}, {}, {}};
      const report::Record values = overall.record();
      total.insert(total.end(), values.begin(), values.end());
      out.footer = std::move(total);
    }
    out.list_key = "groups";
    out.envelope.columns = {{"overall", "overall"}};
    out.envelope.values = {std::make_shared<const report::Object>(report::Object{figures, overall.record()})};
    session_.print(out);
    const bool none = overall.answered() == 0 && overall.unanswered() > 0;
    const bool not_all = session_.options().strict && overall.unanswered() > 0;
    return none || not_all ? exit_status(ErrorCode::not_calibrated) : 0;
  }

 private:
  // What a user who names the row's framework, version and kernel would get.
  Result<std::shared_ptr<const Resolution>> resolve(const ClassKey& key) {
    Question question;
    question.gpu = key.gpu;
    question.op = key.op;
    question.attributes = key.attributes;
    question.framework = key.framework;
    question.version = key.version;
    question.kernel = key.kernel;
    question.cache = key.cache;
    auto resolved = predictor_.resolve(question);
    if (!resolved && resolved.error().code == ErrorCode::not_calibrated) {
      session_.warn(fmt::format("unanswered: {}: {}", describe(key), resolved.error().message));
      return std::shared_ptr<const Resolution>();
    }
    if (resolved) {
      for (const std::string& warning : (*resolved)->warnings()) session_.warn(describe(key) + ": " + warning);
    }
    return resolved;
  }

  Result<void> flush(const ClassKey& key, Pending& pending) {
    if (pending.shapes.empty()) return {};
    ErrorFigures& figures = groups_[group_of(key)];
    pending.answers.resize(pending.shapes.size());
    if (pending.resolution != nullptr) {
      pending.resolution->predict(pending.shapes, pending.answers);
    } else {
      figures.add_unanswered(static_cast<std::int64_t>(pending.shapes.size()));
    }
    for (std::size_t i = 0; i < pending.shapes.size(); ++i) {
      const Answer* answer = pending.resolution == nullptr ? nullptr : &pending.answers[i];
      if (answer != nullptr) {
        if (session_.options().strict && answer->provenance != Provenance::measured &&
            answer->provenance != Provenance::interpolated) {
          figures.add_unanswered(1);
          answer = nullptr;
        } else {
          figures.add(*answer, pending.times[i]);
        }
      }
      if (rows_) rows_->add(file_, pending.lines[i], key, {pending.shapes[i], pending.times[i]}, answer);
    }
    pending.shapes.clear();
    pending.times.clear();
    pending.lines.clear();
    return {};
  }

  Session& session_;
  const Predictor& predictor_;
  std::optional<RowsFile> rows_;
  std::string file_;
  std::int64_t others_ = 0;  // samples that are no operator's
  std::map<ClassKey, Pending> classes_;
  std::map<GroupKey, ErrorFigures> groups_;
};

Result<int> validate(Session& session, const Options& options) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : options.files) {
    const auto found = measurement_files(path);
    if (!found) return found.error();
    files.insert(files.end(), found->begin(), found->end());
  }
  if (files.empty()) return Error{ErrorCode::bad_data, "there is no measurement file among what was given"};
  const auto catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const auto predictor = session.predictor();
  if (!predictor) return predictor.error();
  ImportOptions reading;
  reading.gpu = options.gpu;

  std::optional<RowsFile> rows;
  if (!options.rows.empty()) {
    for (const auto& file : files) {
      std::error_code unlike;  // nothing there yet
      if (std::filesystem::equivalent(file, options.rows, unlike)) {
        return Error{ErrorCode::usage,
                     fmt::format("--rows {}: that is a file to validate; name another", options.rows)};
      }
    }
    // A first pass for the operators, whose fields are the columns.
    std::set<std::string> operators;
    for (const auto& file : files) {
      const auto seen = read_measurements(file, **catalogue, reading, [&](std::int64_t, const StoredSample& sample) {
        if (sample.kind == kOperatorSample) operators.insert(sample.key.op);
        return Result<void>();
      });
      if (!seen && seen.error().code == ErrorCode::usage) return seen.error();
      // What else is wrong with a file is said when it is its turn.
    }
    auto opened = RowsFile::open(options.rows, std::move(operators));
    if (!opened) return opened.error();
    rows.emplace(*std::move(opened));
  }

  Validation validation(session, **predictor, std::move(rows));
  Progress progress(session, "validating", static_cast<std::int64_t>(files.size()));
  std::int64_t rejected = 0;
  int unread_status = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    progress.step(static_cast<std::int64_t>(i));
    const std::string name = files[i].string();
    std::int64_t good = 0;
    const auto read =
        read_measurements(files[i], **catalogue, reading, [&](std::int64_t line, const StoredSample& sample) {
          ++good;
          return validation.add(name, line, sample);
        });
    const auto ended = validation.end_of_file();
    if (!ended) return ended.error();
    progress.clear();
    if (!read) {
      // One bad file does not stop the others.
      if (files.size() == 1 || read.error().code == ErrorCode::usage) return read.error();
      session.err() << "roofcal: " << read.error().message
                    << (good > 0 ? fmt::format(" (the {} rows before count)", good) : "") << '\n';
      unread_status = exit_status(read.error().code);
      continue;
    }
    for (const std::string& warning : read->warnings) session.warn(read->line_of(warning));
    for (const Rejected& row : read->reasons) {
      session.warn(fmt::format("{}:{}: left out: {}", name, row.line, row.reason));
    }
    rejected += read->rejected;
  }
  if (rejected > 0) session.warn(fmt::format("{} rows left out", rejected));
  const auto status = validation.finish();
  return status && unread_status != 0 ? Result<int>(unread_status) : status;
}

}  // namespace

void add_validate(const Registry& registry) {
  CLI::App& verb = add_verb(
      registry, "validate", "predict every row of measurement files and compare",
      "  roofcal validate gemm_perf.csv.gz\n"
      "  roofcal validate measurements/ --rows rows.csv --format json\n"
      "Errors are |predicted / measured - 1|, as fractions outside tables. Nothing is stored. With --strict,\n"
      "rows answered by something that stands in or extrapolates count as unanswered, and make the exit status 3.");
  const auto options = std::make_shared<Options>();
  verb.add_option("FILE", options->files, "files, or folders to look through")->required()->type_name("FILE|DIR");
  verb.add_option("--gpu", options->gpu, "the GPU measured; wins over a file's own word")->type_name("NAME");
  verb.add_option("--rows", options->rows, "write each row with its prediction here, as CSV")->type_name("FILE");
  Action& action = registry.action;
  verb.callback([options, &action] { action = [options](Session& session) { return validate(session, *options); }; });
}

}  // namespace roofcal::cli
