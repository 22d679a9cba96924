// A sample as the store's columns hold it, and the hashes made of them. Writing, reading and checking share this one
// list of columns.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/result.h"
#include "db/json_text.h"
#include "db/sha256.h"
#include "db/sqlite.h"
#include "db/store.h"

namespace roofcal {

/// A class's columns.
struct ClassRow {
  std::string kind, op, gpu, framework, version, kernel, attributes, cache;

  [[nodiscard]] static ClassRow of(const std::string& kind, const ClassKey& key);
  [[nodiscard]] Result<ClassKey> key() const;
  [[nodiscard]] Sha256Digest digest() const;
};
inline constexpr std::string_view kClassColumns = "kind, op, gpu, framework, version, kernel, attributes, cache";

/// Reads kClassColumns from a statement, the first of them in `first`.
[[nodiscard]] ClassRow read_class_row(const sqlite::Statement& statement, int first);

struct Blob {
  std::string bytes;
  friend bool operator==(const Blob&, const Blob&) = default;
};
using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;

/// The sample's own columns, in this order everywhere.
inline constexpr std::array<std::string_view, 22> kSampleColumns{
    "shape",   "time_s",        "count",       "p10_s",  "p90_s",    "relative_error", "raw_s",     "sm_clock_hz",
    "power_w", "power_limit_w", "launch_mode", "layout", "epilogue", "batch_count",    "data_fill", "algorithm",
    "flags",   "extra",         "metrics",     "nodes",  "device",   "measured_utc"};
using SampleRow = std::array<Cell, kSampleColumns.size()>;

/// "shape, time_s, ...".
[[nodiscard]] std::string sample_columns();
/// `shape`: the text of shape or sizes.
[[nodiscard]] SampleRow sample_row(const StoredSample& sample, std::string shape);
/// Everything but kind and key, and the shape only where the row is no operator's (`shapes` is null then).
[[nodiscard]] Result<StoredSample> sample_of(const SampleRow& row, const ShapeText* shapes);

[[nodiscard]] SampleRow read_sample_row(const sqlite::Statement& statement, int first);
/// The row has to outlive the step.
void bind_sample_row(sqlite::Statement& statement, int first, const SampleRow& row);

/// The hash of a sample: the first half of the SHA-256 of its run's source, its class and every column that is not
/// NULL, by name: a column that a later schema adds leaves the hashes of older samples as they are.
inline constexpr std::size_t kHashBytes = 16;
class SampleHasher {
 public:
  [[nodiscard]] std::string hash(std::string_view source, const Sha256Digest& class_digest, const SampleRow& row);

 private:
  Sha256 sha_;
  std::string buffer_;
};

/// The digest of a run: of its fields and of its samples' hashes in the order they were stored.
class RunDigest {
 public:
  void add(std::string_view sample_hash) {
    samples_.add(sample_hash);
    ++count_;
  }
  [[nodiscard]] std::int64_t samples() const { return count_; }
  [[nodiscard]] Sha256Digest finish(const Run& run);

 private:
  Sha256 samples_;
  std::int64_t count_ = 0;
};

}  // namespace roofcal
