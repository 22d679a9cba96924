// The store: one SQLite file with samples (append-only), their provenance, GPUs and calibrations.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/sample.h"

namespace roofcal {

/// Where and how samples came to be. Everything unknown stays empty; what has no field of its own goes to `extra`.
struct Run {
  std::string source;        ///< "aiconfigurator", "roofcal-microbench", ...
  std::string origin;        ///< file imported, or command line
  std::string content_hash;  ///< SHA-256 of the imported file; empty for a measurement
  std::string gpu;           ///< empty: that of its samples, a run for each GPU
  std::string started_utc;   ///< ISO 8601, "2026-12-01T14:00:00Z"
  std::string ended_utc;
  std::map<std::string, std::string> extra;  ///< driver, cuda, cublas, nccl, vbios, power cap, host, topology, ...

  friend bool operator==(const Run&, const Run&) = default;
};

/// What a sample measured: one operator, or something that has no operator.
inline constexpr std::string_view kOperatorSample = "operator";

/// One measurement as stored. Only `key`, `time` and the sizes are always known.
struct StoredSample {
  /// "operator", or "step", "serving", "kernel", ...: then `key.op` is the name of what was measured (a model, a
  /// kernel), `key.attributes` what it ran with, and `sizes` stands for `shape`.
  std::string kind{kOperatorSample};
  ClassKey key;
  Shape shape;
  std::map<std::string, std::int64_t> sizes;  ///< by name; empty for operators
  Seconds time{};                             ///< median
  std::optional<std::int64_t> count;          ///< repeats behind the median
  std::optional<double> p10_s;
  std::optional<double> p90_s;
  std::optional<double> relative_error;  ///< standard error over mean
  std::vector<double> raw_s;
  std::optional<double> sm_clock_hz;
  std::optional<double> power_w;
  std::optional<double> power_limit_w;
  std::string launch_mode;  ///< "stream", "graph", "host_loop"; empty: unknown
  std::string layout;
  std::string epilogue;
  std::optional<std::int64_t> batch_count;
  std::string data_fill;
  std::string algorithm;  ///< what the library chose: id, tile, stages, split-k, cluster
  std::string flags;      ///< words with commas: "throttled", "failed" are kept, but left out of fits
  std::map<std::string, double>
      metrics;  ///< other figures by name, with their unit: "p99_s", "ttft_p50_s", "busbw_bytes_per_s"
  std::optional<std::int64_t> nodes;  ///< that took part
  std::string device;                 ///< which GPU of the node: UUID or index
  std::string measured_utc;
  std::map<std::string, std::string> extra;  ///< what has no field, by name

  friend bool operator==(const StoredSample&, const StoredSample&) = default;
};

/// An empty field matches everything.
struct ClassFilter {
  std::string gpu, op, framework, version, kernel;
};

struct ClassSummary {
  ClassKey key;
  std::int64_t samples = 0;
};

struct StoreInfo {
  int schema_version = 0;
  std::int64_t runs = 0, samples = 0, classes = 0, gpus = 0, calibrations = 0;
  std::int64_t file_bytes = 0;
};

struct RunOutcome {
  std::int64_t stored = 0;
  std::int64_t already_there = 0;
};

class Store {
 public:
  enum class Access { read, write };  ///< write creates a missing file and migrates an older schema

  /// Errors: a newer schema (untouched), a foreign or corrupt file, no permission; each one line saying what to do.
  /// A store with an older schema is migrated on either access.
  [[nodiscard]] static Result<Store> open(const std::filesystem::path& file, Access access);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// Stores a run and its samples in one transaction: all or nothing, also under kill -9; concurrent writers queue.
  /// `produce` is called with a sink and may stop with an error, which rolls back. Samples of one source that are
  /// identical in every respect count once, whichever run brings them; the same key with another time is a repeat and
  /// is kept. A run that brings nothing new is not stored. The sink's errors: a sample that no reader could make sense
  /// of (time not positive, a size outside its domain, an unknown operator, text that is not UTF-8, a point in time
  /// that is not UTC in ISO 8601).
  using SampleSink = std::function<Result<void>(const StoredSample&)>;
  [[nodiscard]] Result<RunOutcome> add_run(const Run& run,
                                           const std::function<Result<void>(const SampleSink& sink)>& produce);
  /// The same for samples of several runs, in any order, in one transaction.
  using RunSampleSink = std::function<Result<void>(const Run&, const StoredSample&)>;
  [[nodiscard]] Result<RunOutcome> add_runs(const std::function<Result<void>(const RunSampleSink& sink)>& produce);

  /// Classes of operator samples, ordered by key.
  [[nodiscard]] Result<std::vector<ClassSummary>> classes(const ClassFilter& filter) const;
  /// Fit-worthy samples (no failed or throttled ones) of a class, ordered by shape then time: the same store, the same
  /// order.
  [[nodiscard]] Result<std::vector<Sample>> samples(const ClassKey& key) const;
  /// Streams whole samples of every kind with the run they belong to, in stored order, all of one moment: what others
  /// store meanwhile is not seen. `visit` must not write to this store.
  [[nodiscard]] Result<void> for_each(const ClassFilter& filter,
                                      const std::function<Result<void>(const Run&, const StoredSample&)>& visit) const;

  /// GPUs added by the user: the catalogue's JSON text by name.
  [[nodiscard]] Result<void> put_gpu(const std::string& name, const std::string& json);
  [[nodiscard]] Result<std::map<std::string, std::string>> gpus() const;

  /// Calibrations are derived: a newer one of the same key replaces what predictions use, older ones stay listed.
  /// `key`: "<gpu>/<op>[-...]/<framework>/<version>[/...]", which filters look into; `blob`: a calibration file's
  /// bytes; `digest`: of the samples and options it was made from.
  [[nodiscard]] Result<void> put_calibration(const std::string& key, const std::string& digest,
                                             const std::string& blob);
  struct StoredCalibration {
    std::string key, digest, created_utc, blob;
  };
  [[nodiscard]] Result<std::vector<StoredCalibration>> latest_calibrations(const ClassFilter& filter) const;

  [[nodiscard]] Result<StoreInfo> info() const;
  /// Re-computes every sample's content hash, every run's digest and every calibration's hash; foreign keys and
  /// SQLite's own integrity check. Returns the findings, empty when all is well.
  [[nodiscard]] Result<std::vector<std::string>> check() const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Where the store lies unless --db says: $ROOFCAL_DB, else $XDG_DATA_HOME/roofcal/roofcal.db, else
/// ~/.local/share/roofcal/roofcal.db.
[[nodiscard]] std::filesystem::path default_store_path();

}  // namespace roofcal
