#include "db/export.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "db/cell_text.h"
#include "db/json_text.h"
#include "db/roofcal_table.h"
#include "db/whole_file.h"

namespace roofcal {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSamplesBetweenProgress = 4096;

// Text, gzip'd when the name ends in .gz.
class TextFile {
 public:
  static Result<TextFile> create(const fs::path& file) {
    auto place = WholeFile::create(file);
    if (!place) return place.error();
    return TextFile(file, *std::move(place));
  }

  [[nodiscard]] Result<void> write(std::string_view text) {
    if (out_ == nullptr || gzwrite(out_.get(), text.data(), static_cast<unsigned>(text.size())) <= 0) return failure();
    return {};
  }

  [[nodiscard]] Result<void> finish() {
    if (gzclose_w(out_.release()) != Z_OK) return failure();
    return place_.keep();
  }

 private:
  struct Close {
    void operator()(gzFile_s* file) const { gzclose_w(file); }
  };
  TextFile(const fs::path& file, WholeFile place) : file_(file), place_(std::move(place)) {
    errno = 0;
    // T: as it is.
    out_.reset(gzopen(place_.unfinished().c_str(), file.extension() == ".gz" ? "wb6" : "wbT"));
  }
  [[nodiscard]] Error failure() const {
    return {ErrorCode::io, fmt::format("{}: cannot be written ({})", file_.string(), std::strerror(errno))};
  }

  fs::path file_;
  WholeFile place_;  // outlives the stream
  std::unique_ptr<gzFile_s, Close> out_;
};

void append_cell(std::string& row, std::string_view cell) {
  if (!row.empty()) row.push_back(',');
  // Spaces at an end would be taken for the table's.
  const bool plain = cell.find_first_of(",\"\r\n") == std::string_view::npos &&
                     (cell.empty() || (std::string_view(" \t").find(cell.front()) == std::string_view::npos &&
                                       std::string_view(" \t").find(cell.back()) == std::string_view::npos));
  if (plain) {
    row.append(cell);
    return;
  }
  row.push_back('"');
  for (const char c : cell) {
    if (c == '"') row.push_back('"');
    row.push_back(c);
  }
  row.push_back('"');
}

std::string text_of(const std::optional<double>& value) { return value ? real_text(*value) : ""; }
std::string text_of(const std::optional<std::int64_t>& value) { return value ? fmt::format("{}", *value) : ""; }
std::string text_of(const std::vector<double>& values) { return fmt::format("{}", fmt::join(values, ";")); }
template <class T>
std::string text_of(const std::map<std::string, T>& values) {
  return values.empty() ? "" : json_text(values);
}

// In the order of kRoofcalColumns.
std::array<std::string, kRoofcalColumns.size()> fixed_cells(const Run& run, const StoredSample& sample) {
  const ClassKey& key = sample.key;
  // An operator's attributes have columns of their own.
  const std::string attributes = sample.kind == kOperatorSample ? "" : json_text(key.attributes);
  return {sample.kind,
          key.op,
          key.gpu,
          key.framework,
          key.version,
          key.kernel,
          std::string(to_string(key.cache)),
          real_text(sample.time.value()),
          text_of(sample.count),
          text_of(sample.p10_s),
          text_of(sample.p90_s),
          text_of(sample.relative_error),
          text_of(sample.raw_s),
          text_of(sample.sm_clock_hz),
          text_of(sample.power_w),
          text_of(sample.power_limit_w),
          sample.launch_mode,
          sample.layout,
          sample.epilogue,
          text_of(sample.batch_count),
          sample.data_fill,
          sample.algorithm,
          sample.flags,
          text_of(sample.metrics),
          text_of(sample.nodes),
          sample.device,
          sample.measured_utc,
          text_of(sample.extra),
          text_of(sample.sizes),
          attributes,
          run.source,
          run.origin,
          run.content_hash,
          run.gpu,
          run.started_utc,
          run.ended_utc,
          text_of(run.extra)};
}

// The columns that operators bring: where each field and attribute goes.
class OperatorColumns {
 public:
  explicit OperatorColumns(const std::set<std::string>& operators) {
    for (const std::string& name : operators) {
      const Operator& op = *find_operator(name);
      for (const AttributeField& attribute : op.attributes()) add(attribute.name);
      for (const Field& field : op.fields()) add(field.name);
    }
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  [[nodiscard]] std::vector<std::string> cells(const StoredSample& sample) const {
    std::vector<std::string> out(names_.size());
    if (sample.kind != kOperatorSample) return out;
    const auto fields = find_operator(sample.key.op)->fields();
    for (std::size_t i = 0; i < fields.size(); ++i)
      out[place(fields[i].name)] = print_field(fields[i], sample.shape[i]);
    for (const auto& [name, value] : sample.key.attributes) out[place(name)] = value;
    return out;
  }

 private:
  void add(std::string_view name) {
    const std::string column = table_column(name);
    if (std::ranges::find(names_, column) == names_.end()) names_.push_back(column);
  }
  [[nodiscard]] std::size_t place(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::find(names_, table_column(name)) - names_.begin());
  }
  std::vector<std::string> names_;
};

}  // namespace

Result<std::int64_t> export_samples(const Store& store, const ClassFilter& filter, const fs::path& file,
                                    const std::function<void(std::int64_t)>& progress) {
  const auto classes = store.classes(filter);
  if (!classes) return classes.error();
  std::set<std::string> operators;
  for (const ClassSummary& summary : *classes) {
    if (find_operator(summary.key.op) != nullptr) operators.insert(summary.key.op);  // for_each refuses the others
  }
  const OperatorColumns own(operators);
  auto out = TextFile::create(file);
  if (!out) return out.error();
  std::string row;
  const auto write = [&](const auto& fixed, const std::vector<std::string>& others) {
    row.clear();
    for (const auto& cell : fixed) append_cell(row, cell);
    for (const std::string& cell : others) append_cell(row, cell);
    row.push_back('\n');
    return out->write(row);
  };
  if (const auto written = write(kRoofcalColumns, own.names()); !written) return written.error();
  std::int64_t count = 0;
  const auto done = store.for_each(filter, [&](const Run& run, const StoredSample& sample) -> Result<void> {
    if (sample.kind == kOperatorSample && !operators.contains(sample.key.op)) {
      return Error{ErrorCode::io, fmt::format("{}: samples of another operator ({}) came while this was written: "
                                              "export again",
                                              file.string(), sample.key.op)};
    }
    if (++count % kSamplesBetweenProgress == 0 && progress) progress(count);
    return write(fixed_cells(run, sample), own.cells(sample));
  });
  if (!done) return done.error();
  if (const auto finished = out->finish(); !finished) return finished.error();
  return count;
}

}  // namespace roofcal
