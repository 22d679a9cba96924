// `predict rows`: any number of operator calls from CSV, streamed in constant memory.
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "cli/answer_report.h"
#include "cli/field_text.h"
#include "cli/operator_arguments.h"
#include "cli/progress.h"
#include "cli/question_options.h"
#include "cli/row_plan.h"
#include "cli/row_reader.h"
#include "cli/row_writer.h"
#include "cli/session.h"
#include "cli/verbs.h"

namespace roofcal::cli {
namespace {

constexpr std::int64_t kMostComplaints = 100;  // lines on stderr; every row keeps its own error
constexpr std::size_t kMostQuestions = 4096;   // kept at a time, so that memory stays bounded whatever the input

struct Options {
  std::string file;
  std::string op, phase;
  QuestionOptions question;
  std::map<std::string, std::string, std::less<>> attributes;  // defaults, by column name
};

// Rows that ask the same question but for the sizes.
struct Group {
  const Operator* op = nullptr;
  FieldColumns columns;
  Attributes attributes;
  std::shared_ptr<const Resolution> resolution;  // null: `failure` holds for every row
  std::optional<Error> failure;
  std::vector<std::string> warnings_of_kernel;  // those that no shape changes, joined
  std::vector<Shape> shapes;                    // of the block
  std::vector<Answer> answers;
};

struct Row {
  std::int64_t line = 0;
  std::size_t first_cell = 0, cells = 0;
  Group* group = nullptr;
  std::size_t index = 0;  // into the group's shapes
  std::optional<Error> failure;
};

class RowsJob {
 public:
  RowsJob(Session& session, const Options& options, const Predictor& predictor)
      : session_(session), options_(options), predictor_(predictor) {}

  Result<int> run();

 private:
  Result<void> read_header(const Line& line);
  void read_row(const Line& line);
  Result<Group*> group_of(std::span<const Cell> cells);
  Result<Shape> shape_of(const Operator& op, const FieldColumns& columns, std::span<const Cell> cells) const;
  Result<const Operator*> operator_of(std::span<const Cell> cells) const;
  Result<std::unique_ptr<Group>> make_group(std::span<const Cell> cells) const;
  [[nodiscard]] std::string_view text_of(std::string_view column, std::span<const Cell> cells,
                                         std::string_view fallback) const;
  Result<void> write_block();
  Result<void> complain(const Row& row, const Error& error);
  [[nodiscard]] std::string name() const { return options_.file == "-" ? "stdin" : options_.file; }

  Session& session_;
  const Options& options_;
  const Predictor& predictor_;
  std::optional<RowPlan> plan_;
  std::unique_ptr<RowWriter> writer_;
  std::unordered_map<std::string, std::unique_ptr<Group>> groups_;
  // The last row's question, since rows of one question tend to come together.
  Group* last_group_ = nullptr;
  std::vector<std::string> last_question_;
  // The block.
  std::vector<Row> rows_;
  std::vector<Cell> cells_;
  std::vector<std::unique_ptr<std::string>> scratch_;
  std::string key_;
  std::int64_t answered_ = 0;
  std::int64_t failed_ = 0;
  bool all_uncalibrated_ = true;
};

Result<void> RowsJob::read_header(const Line& line) {
  std::vector<Cell> header;
  std::vector<std::unique_ptr<std::string>> scratch;
  if (const auto split = split_cells(line.text, header, scratch); !split) {
    return Error{split.error().code, fmt::format("{}:{}: {}", name(), line.number, split.error().message)};
  }
  auto plan = RowPlan::from_header(header);
  if (!plan) return Error{plan.error().code, fmt::format("{}:{}: {}", name(), line.number, plan.error().message)};
  plan_.emplace(*std::move(plan));
  if (plan_->column("op") < 0 && options_.op.empty()) {
    return Error{ErrorCode::usage,
                 fmt::format("{}:{}: there is no `op` column; add one or give --op", name(), line.number)};
  }
  if (plan_->column("gpu") < 0 && options_.question.gpu.empty()) {
    return Error{ErrorCode::usage,
                 fmt::format("{}:{}: there is no `gpu` column; add one or give --gpu", name(), line.number)};
  }
  if (const auto unread = plan_->unread(); !unread.empty()) {
    session_.warn(fmt::format("{}: columns passed on but not read: {}", name(), fmt::join(unread, ", ")));
  }
  writer_ = make_row_writer(session_.format(report::Format::csv), *plan_, session_.out());
  return {};
}

std::string_view RowsJob::text_of(std::string_view column, std::span<const Cell> cells,
                                  std::string_view fallback) const {
  const int index = plan_->column(column);
  if (index < 0 || cells[static_cast<std::size_t>(index)].value.empty()) return fallback;
  return cells[static_cast<std::size_t>(index)].value;
}

Result<const Operator*> RowsJob::operator_of(std::span<const Cell> cells) const {
  const std::string_view word = text_of("op", cells, options_.op);
  const std::string_view phase = text_of("phase", cells, options_.phase);
  if (word.empty()) return Error{ErrorCode::usage, "op is empty"};
  if (const Operator* op = find_operator(word)) return op;
  std::vector<std::string> names;
  bool family = false;
  for (const Operator* op : all_operators()) {
    if (op->family() == word && op->phase() == phase) return op;
    family = family || op->family() == word;
    names.emplace_back(op->name());
  }
  if (family) return Error{ErrorCode::usage, fmt::format("{} needs a phase, '{}' is none", word, phase)};
  return Error{ErrorCode::usage, fmt::format("operator '{}' is not known; there is {}", word, fmt::join(names, ", "))};
}

Result<Shape> RowsJob::shape_of(const Operator& op, const FieldColumns& columns, std::span<const Cell> cells) const {
  const auto fields = op.fields();
  Shape shape(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    const int column = columns.column[i];
    const std::string_view text = column < 0 ? std::string_view() : cells[static_cast<std::size_t>(column)].value;
    if (text.empty()) {
      if (!field.fallback) {
        return Error{ErrorCode::usage, fmt::format("{} needs {} ({})", op.name(), column_name(field.name), field.help)};
      }
      shape[i] = *field.fallback;
      continue;
    }
    std::int64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, value);
    if (field.parse != nullptr || failure != std::errc{} || stop != end || value < field.min || value > field.max) {
      const auto parsed = field_value(field, text);
      if (!parsed) return parsed.error();
      value = *parsed;
    }
    shape[i] = value;
  }
  return shape;
}

Result<std::unique_ptr<Group>> RowsJob::make_group(std::span<const Cell> cells) const {
  const auto op = operator_of(cells);
  if (!op) return op.error();
  auto group = std::make_unique<Group>();
  group->op = *op;
  group->columns = plan_->field_columns(**op);
  const auto shape = shape_of(**op, group->columns, cells);
  if (!shape) return shape.error();
  std::map<std::string, std::string, std::less<>> sizes;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    sizes.emplace((*op)->fields()[i].name, print_field((*op)->fields()[i], (*shape)[i]));
  }
  const auto call = parse_call(**op, [&](std::string_view name) -> std::optional<std::string_view> {
    if (const auto size = sizes.find(name); size != sizes.end()) return size->second;
    const std::string column = column_name(name);
    const auto fallback = options_.attributes.find(column);
    return text_of(column, cells, fallback == options_.attributes.end() ? std::string_view() : fallback->second);
  });
  if (!call) return call.error();
  group->attributes = call->attributes;

  Question question = options_.question.question(text_of("gpu", cells, options_.question.gpu));
  if (question.gpu.empty()) return Error{ErrorCode::usage, "gpu is empty"};
  question.op = (*op)->name();
  question.attributes = call->attributes;
  question.framework = framework_name(text_of("framework", cells, options_.question.framework));
  question.version = text_of("version", cells, options_.question.version);
  question.kernel = text_of("kernel", cells, options_.question.kernel);
  const std::string_view cache = text_of("cache", cells, options_.question.cache);
  const auto mode = parse_cache_mode(cache);
  if (!mode) return Error{ErrorCode::usage, fmt::format("cache '{}' is neither hot nor cold", cache)};
  question.cache = *mode;

  auto resolved = predictor_.resolve(question);
  if (!resolved) {
    group->failure = resolved.error();
    return group;
  }
  group->resolution = *std::move(resolved);
  std::string general = fmt::format("{}", fmt::join(group->resolution->warnings(), "; "));
  for (std::size_t kernel = 0; kernel < group->resolution->kernels().size(); ++kernel) {
    Answer plain;  // no field outside: what remains is said of the kernel
    plain.kernel = static_cast<std::uint16_t>(kernel);
    std::string text = general;
    for (const std::string& warning : group->resolution->warnings(*shape, plain)) {
      text += (text.empty() ? "" : "; ") + warning;
    }
    group->warnings_of_kernel.push_back(std::move(text));
  }
  return group;
}

Result<Group*> RowsJob::group_of(std::span<const Cell> cells) {
  const auto question = plan_->question_columns();
  const auto cell = [&](std::size_t i) { return cells[static_cast<std::size_t>(question[i])].value; };
  bool same = last_group_ != nullptr;
  for (std::size_t i = 0; same && i < question.size(); ++i) same = last_question_[i] == cell(i);
  if (same) return last_group_;

  key_.clear();
  for (std::size_t i = 0; i < question.size(); ++i) {
    key_ += cell(i);
    key_ += '\n';  // no cell holds one
  }
  auto found = groups_.find(key_);
  if (found == groups_.end()) {
    auto made = make_group(cells);
    if (!made) return made.error();
    found = groups_.emplace(key_, *std::move(made)).first;
  }
  last_group_ = found->second.get();
  last_question_.resize(question.size());
  for (std::size_t i = 0; i < question.size(); ++i) last_question_[i] = cell(i);
  return last_group_;
}

void RowsJob::read_row(const Line& line) {
  Row row;
  row.line = line.number;
  row.first_cell = cells_.size();
  const auto split = split_cells(line.text, cells_, scratch_);
  row.cells = cells_.size() - row.first_cell;
  const std::span<const Cell> cells(cells_.data() + row.first_cell, row.cells);
  if (!split) {
    row.failure = split.error();
  } else if (row.cells != plan_->names().size()) {
    row.failure =
        Error{ErrorCode::bad_data, fmt::format("{} cells where the header names {}", row.cells, plan_->names().size())};
  } else if (const auto group = group_of(cells); !group) {
    row.failure = group.error();
  } else {
    row.group = *group;
    if (row.group->failure) {
      row.failure = row.group->failure;
    } else if (const auto shape = shape_of(*row.group->op, row.group->columns, cells); !shape) {
      row.failure = shape.error();
    } else if (const auto legal = row.group->op->check(row.group->attributes, *shape); !legal) {
      row.failure = legal.error();
    } else {
      row.index = row.group->shapes.size();
      row.group->shapes.push_back(*shape);
    }
  }
  rows_.push_back(std::move(row));
}

Result<void> RowsJob::complain(const Row& row, const Error& error) {
  const std::string message = fmt::format("{}:{}: {}", name(), row.line, error.message);
  // What would be misuse on the command line is bad data in a file.
  if (session_.options().strict) {
    return Error{error.code == ErrorCode::usage ? ErrorCode::bad_data : error.code, message};
  }
  ++failed_;
  all_uncalibrated_ = all_uncalibrated_ && error.code == ErrorCode::not_calibrated;
  if (failed_ <= kMostComplaints) session_.err() << "roofcal: " << message << '\n';
  return {};
}

Result<void> RowsJob::write_block() {
  for (auto& entry : groups_) {
    Group& group = *entry.second;
    if (group.shapes.empty()) continue;
    group.answers.resize(group.shapes.size());
    group.resolution->predict(group.shapes, group.answers);
  }
  std::string warnings;
  Result<void> outcome;
  for (const Row& row : rows_) {
    const std::span<const Cell> cells(cells_.data() + row.first_cell, row.cells);
    RowAnswer told;
    if (row.group != nullptr) told.op = row.group->op->name();
    std::optional<Error> failure = row.failure;
    if (!failure) {
      const Group& group = *row.group;
      const Answer& answer = group.answers[row.index];
      told.resolution = group.resolution.get();
      told.answer = &answer;
      told.warnings = group.warnings_of_kernel[answer.kernel];
      if (answer.outside_fields != 0) {
        warnings = fmt::format("{}", fmt::join(group.resolution->warnings(), "; "));
        for (const std::string& warning : group.resolution->warnings(group.shapes[row.index], answer)) {
          warnings += (warnings.empty() ? "" : "; ") + warning;
        }
        told.warnings = warnings;
      }
      if (session_.options().strict) {
        const std::vector<std::string> because{std::string(told.warnings)};
        failure = strict_complaint(answer.provenance, "the answer",
                                   told.warnings.empty() ? std::span<const std::string>() : because);
      }
    }
    if (failure) {
      outcome = complain(row, *failure);
      if (!outcome) break;
      told.resolution = nullptr;
      told.warnings = {};
      told.error = failure->message;
    } else {
      ++answered_;
    }
    writer_->row(cells, told);
  }
  writer_->end_block();
  for (auto& entry : groups_) entry.second->shapes.clear();
  if (groups_.size() > kMostQuestions) {
    groups_.clear();
    last_group_ = nullptr;
  }
  rows_.clear();
  cells_.clear();
  scratch_.clear();
  return outcome;
}

Result<int> RowsJob::run() {
  auto reader = RowReader::open(options_.file);
  if (!reader) return reader.error();
  std::vector<Line> lines;
  Progress progress(session_, "rows", 0);
  while (true) {
    const auto read = reader->next(lines);
    if (!read) return read.error();
    if (lines.empty()) break;
    std::span<const Line> rows(lines);
    if (!plan_) {
      if (const auto header = read_header(rows.front()); !header) return header.error();
      rows = rows.subspan(1);
    }
    for (const Line& line : rows) read_row(line);
    if (const auto written = write_block(); !written) {
      writer_->end();
      return written.error();
    }
    if (!session_.out()) return Error{ErrorCode::io, "the result could not be written to stdout"};
    progress.step(answered_ + failed_);
  }
  if (!plan_) return Error{ErrorCode::bad_data, fmt::format("{} is empty: the first line names the columns", name())};
  writer_->end();
  progress.clear();
  if (failed_ > kMostComplaints) {
    session_.err() << fmt::format("roofcal: {} more rows without an answer\n", failed_ - kMostComplaints);
  }
  if (failed_ == 0) return 0;
  session_.err() << fmt::format("roofcal: {} of {} rows have no answer\n", failed_, failed_ + answered_);
  return answered_ == 0 && all_uncalibrated_ ? exit_status(ErrorCode::not_calibrated) : 1;
}

}  // namespace

void add_predict_rows(const Registry& predict) {
  CLI::App& verb = add_verb(
      predict, "rows", "any number of operators from CSV, streamed",
      "  roofcal predict rows calls.csv --gpu h200_sxm > answers.csv\n"
      "  printf 'op,m,n,k\\ngemm,16,8192,8192\\n' | roofcal predict rows - --gpu h200_sxm\n"
      "Columns: op, and the names of the flags of `roofcal predict` ('-' and '_' are the same); gpu, framework,\n"
      "version, kernel, cache where they differ from row to row. Columns of other names are passed on. The\n"
      "default format is csv. A row without an answer has empty figures and its reason under `error`.");
  const auto options = std::make_shared<Options>();
  verb.add_option("FILE", options->file, "CSV with a header, gzip'd or not; - is stdin")->required()->type_name("");
  verb.add_option("--op", options->op, "operator of rows that name none")->type_name("OP")->group("Defaults for rows");
  verb.add_option("--phase", options->phase, "phase of rows that name none")
      ->type_name("P")
      ->group("Defaults for rows");
  for (const Operator* op : all_operators()) {
    for (const AttributeField& attribute : op->attributes()) {
      const auto [text, fresh] = options->attributes.try_emplace(column_name(attribute.name));
      if (!fresh) continue;
      verb.add_option("--" + flag_name(attribute.name), text->second, std::string(attribute.help))
          ->type_name("A")
          ->group("Defaults for rows");
    }
  }
  options->question.add_options(verb, "GPU of rows that name none");
  Action& action = predict.action;
  verb.callback([options, &action] {
    action = [options](Session& session) -> Result<int> {
      const auto predictor = session.predictor();
      if (!predictor) return predictor.error();
      return RowsJob(session, *options, **predictor).run();
    };
  });
}

}  // namespace roofcal::cli
