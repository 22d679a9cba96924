#include "db/sample_row.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace roofcal {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_s and the hashes hold little-endian numbers");

// Fields of variable length carry their length, so that no two lists of fields make the same bytes.
void append_text(std::string& out, std::string_view field) {
  const std::uint64_t size = field.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out.append(field);
}

template <class T>
void append_number(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append(std::string& out, const Cell& cell) {
  out.push_back(static_cast<char>('0' + cell.index()));
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) append_number(out, *integer);
  if (const auto* real = std::get_if<double>(&cell)) append_number(out, *real);
  if (const auto* text = std::get_if<std::string>(&cell)) append_text(out, *text);
  if (const auto* blob = std::get_if<Blob>(&cell)) append_text(out, blob->bytes);
}

Cell known(const std::string& text) { return text.empty() ? Cell() : Cell(text); }
Cell known(const std::optional<std::int64_t>& value) { return value ? Cell(*value) : Cell(); }
// SQLite keeps no sign of a zero: it goes here, before the hash sees it.
Cell known(const std::optional<double>& value) { return value ? Cell(*value + 0.0) : Cell(); }

template <class T>
Cell known(const std::map<std::string, T>& values) {
  return values.empty() ? Cell() : Cell(json_text(values));
}

// Takes the row's cells one after another, in the order of kSampleColumns.
class Reader {
 public:
  explicit Reader(const SampleRow& row) : row_(row) {}

  void take(std::string& out) {
    if (const auto* text = std::get_if<std::string>(&next())) out = *text;
  }
  template <class T>
  void take(std::optional<T>& out) {
    if (const auto* value = std::get_if<T>(&next())) out = *value;
  }
  void take(std::vector<double>& out) {
    if (const auto* blob = std::get_if<Blob>(&next())) {
      out.resize(blob->bytes.size() / sizeof(double));
      if (!out.empty()) std::memcpy(out.data(), blob->bytes.data(), out.size() * sizeof(double));
    }
  }
  template <class T>
  Result<void> take(std::map<std::string, T>& out) {
    const auto* text = std::get_if<std::string>(&next());
    return text == nullptr ? Result<void>() : read_json(*text, out);
  }

 private:
  const Cell& next() { return row_[at_++]; }
  const SampleRow& row_;
  std::size_t at_ = 0;
};

}  // namespace

ClassRow ClassRow::of(const std::string& kind, const ClassKey& key) {
  return {kind,
          key.op,
          key.gpu,
          key.framework,
          key.version,
          key.kernel,
          json_text(key.attributes),
          std::string(to_string(key.cache))};
}

Result<ClassKey> ClassRow::key() const {
  ClassKey key;
  key.op = op;
  key.gpu = gpu;
  key.framework = framework;
  key.version = version;
  key.kernel = kernel;
  if (const auto read = read_json(attributes, key.attributes); !read) return read.error();
  const auto mode = parse_cache_mode(cache);
  if (!mode) return Error{ErrorCode::bad_data, fmt::format("cache mode '{}' is neither hot nor cold", cache)};
  key.cache = *mode;
  return key;
}

Sha256Digest ClassRow::digest() const {
  std::string bytes;
  for (const std::string* field : {&kind, &op, &gpu, &framework, &version, &kernel, &attributes, &cache}) {
    append_text(bytes, *field);
  }
  Sha256 sha;
  sha.add(bytes);
  return sha.finish();
}

ClassRow read_class_row(const sqlite::Statement& statement, int first) {
  const auto text = [&](int i) { return std::string(statement.text(first + i)); };
  return {text(0), text(1), text(2), text(3), text(4), text(5), text(6), text(7)};
}

std::string sample_columns() { return fmt::format("{}", fmt::join(kSampleColumns, ", ")); }

SampleRow sample_row(const StoredSample& sample, std::string shape) {
  Cell raw;
  if (!sample.raw_s.empty()) {
    raw = Blob{{reinterpret_cast<const char*>(sample.raw_s.data()), sample.raw_s.size() * sizeof(double)}};
  }
  return {Cell(std::move(shape)),
          Cell(sample.time.value()),
          known(sample.count),
          known(sample.p10_s),
          known(sample.p90_s),
          known(sample.relative_error),
          std::move(raw),
          known(sample.sm_clock_hz),
          known(sample.power_w),
          known(sample.power_limit_w),
          known(sample.launch_mode),
          known(sample.layout),
          known(sample.epilogue),
          known(sample.batch_count),
          known(sample.data_fill),
          known(sample.algorithm),
          known(sample.flags),
          known(sample.extra),
          known(sample.metrics),
          known(sample.nodes),
          known(sample.device),
          known(sample.measured_utc)};
}

Result<StoredSample> sample_of(const SampleRow& row, const ShapeText* shapes) {
  StoredSample sample;
  Reader reader(row);
  std::string shape;
  reader.take(shape);
  if (shapes != nullptr) {
    const auto read = shapes->read(shape);
    if (!read) return read.error();
    sample.shape = *read;
  } else if (const auto read = read_json(shape, sample.sizes); !read) {
    return read.error();
  }
  std::optional<double> time;
  reader.take(time);
  sample.time = Seconds(time.value_or(0.0));
  reader.take(sample.count);
  reader.take(sample.p10_s);
  reader.take(sample.p90_s);
  reader.take(sample.relative_error);
  reader.take(sample.raw_s);
  reader.take(sample.sm_clock_hz);
  reader.take(sample.power_w);
  reader.take(sample.power_limit_w);
  reader.take(sample.launch_mode);
  reader.take(sample.layout);
  reader.take(sample.epilogue);
  reader.take(sample.batch_count);
  reader.take(sample.data_fill);
  reader.take(sample.algorithm);
  reader.take(sample.flags);
  if (const auto read = reader.take(sample.extra); !read) return read.error();
  if (const auto read = reader.take(sample.metrics); !read) return read.error();
  reader.take(sample.nodes);
  reader.take(sample.device);
  reader.take(sample.measured_utc);
  return sample;
}

SampleRow read_sample_row(const sqlite::Statement& statement, int first) {
  SampleRow row;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int column = first + static_cast<int>(i);
    switch (statement.type(column)) {
      case SQLITE_INTEGER:
        row[i] = statement.integer(column);
        break;
      case SQLITE_FLOAT:
        row[i] = statement.real(column);
        break;
      case SQLITE_TEXT:
        row[i] = std::string(statement.text(column));
        break;
      case SQLITE_BLOB:
        row[i] = Blob{std::string(statement.text(column))};
        break;
      default:
        break;  // NULL: not known
    }
  }
  return row;
}

void bind_sample_row(sqlite::Statement& statement, int first, const SampleRow& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int index = first + static_cast<int>(i);
    if (const auto* integer = std::get_if<std::int64_t>(&row[i])) {
      statement.bind(index, *integer);
    } else if (const auto* real = std::get_if<double>(&row[i])) {
      statement.bind(index, *real);
    } else if (const auto* text = std::get_if<std::string>(&row[i])) {
      statement.bind_text(index, *text);
    } else if (const auto* blob = std::get_if<Blob>(&row[i])) {
      statement.bind_blob(index, blob->bytes);
    } else {
      statement.bind_null(index);
    }
  }
}

std::string SampleHasher::hash(std::string_view source, const Sha256Digest& class_digest, const SampleRow& row) {
  buffer_.clear();
  append_text(buffer_, source);
  buffer_.append(bytes_of(class_digest));
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (std::holds_alternative<std::monostate>(row[i])) continue;
    append_text(buffer_, kSampleColumns[i]);
    append(buffer_, row[i]);
  }
  sha_.add(buffer_);
  return std::string(bytes_of(sha_.finish()).substr(0, kHashBytes));
}

Sha256Digest RunDigest::finish(const Run& run) {
  std::string bytes;
  for (const std::string* field :
       {&run.source, &run.origin, &run.content_hash, &run.gpu, &run.started_utc, &run.ended_utc}) {
    append_text(bytes, *field);
  }
  append_text(bytes, json_text(run.extra));
  append_number(bytes, count_);
  Sha256 sha;
  sha.add(bytes);
  sha.add(bytes_of(samples_.finish()));
  return sha.finish();
}

}  // namespace roofcal
