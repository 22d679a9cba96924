// `calibrate`: from the store's samples to calibrations in the store.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "calibrate/fit.h"
#include "calibrate/kernel_choices.h"
#include "cli/progress.h"
#include "cli/quantities.h"
#include "cli/question_options.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "db/sha256.h"

namespace roofcal::cli {
namespace {

constexpr std::array<std::string_view, 3> kSelections{"spread", "random", "cheap"};

struct Options {
  ClassFilter filter;
  std::string points = "all";
  std::string select = "spread";
  std::uint64_t seed = 1;
};

Selection selection_of(std::string_view name) {
  if (name == "random") return Selection::random;
  return name == "cheap" ? Selection::cheap : Selection::spread;
}

// What a calibration was made from: tells whether another one would be the same.
class Digest {
 public:
  void add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    hash_.add(text);
  }
  void add(std::uint64_t number) { hash_.add(&number, sizeof number); }
  [[nodiscard]] std::string text() { return hex(bytes_of(hash_.finish())); }

 private:
  Sha256 hash_;
};

std::string now_utc() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(now - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count());
}

// All kernels of one framework version, which answer together.
struct Group {
  ClassKey key;  // without a kernel
  std::vector<ClassSummary> classes;
};

std::vector<Group> groups_of(const std::vector<ClassSummary>& classes) {
  std::map<ClassKey, Group> groups;
  for (const ClassSummary& summary : classes) {
    ClassKey key = summary.key;
    key.kernel.clear();
    Group& group = groups[key];
    group.key = key;
    group.classes.push_back(summary);
  }
  std::vector<Group> out;
  for (auto& entry : groups) out.push_back(std::move(entry.second));
  return out;
}

std::vector<report::Column> columns() {
  using report::Unit;
  return {{"gpu", "gpu"},
          {"op", "op"},
          {"attributes", "attributes"},
          {"framework", "framework"},
          {"version", "version"},
          {"kernel", "kernel"},
          {"cache", "cache"},
          {"samples", "samples"},
          {"points", "points"},
          {"kernel_s", "kernel time", Unit::seconds},
          {"mape", "MAPE", Unit::fraction},
          {"p95_ape", "p95", Unit::fraction},
          {"coverage90", "coverage", Unit::fraction},
          {"host_bound", "host bound"},
          {"fit_s", "fit", Unit::seconds}};
}

report::Record record_of(const ClassModel& model, double fit_s) {
  const ClassKey& key = model.key();
  const FitFigures& figures = model.figures();
  report::Object attributes;
  for (const auto& [name, value] : key.attributes) {
    attributes.columns.push_back({name, name});
    attributes.values.emplace_back(value);
  }
  return {key.gpu,
          key.op,
          std::make_shared<const report::Object>(std::move(attributes)),
          key.framework,
          key.version,
          key.kernel,
          std::string(to_string(key.cache)),
          static_cast<std::int64_t>(figures.rows),
          static_cast<std::int64_t>(figures.points),
          figures.kernel_seconds,
          figures.mape,
          figures.p95_ape,
          figures.coverage90,
          figures.host_bound,
          fit_s};
}

class Job {
 public:
  Job(Session& session, Store& store, const GpuCatalogue& catalogue, const Options& options, FitOptions fit,
      Progress& progress)
      : session_(session), store_(store), catalogue_(catalogue), options_(options), fit_(fit), progress_(progress) {}

  /// Fits a group's classes and stores them as one calibration. A class that cannot be fitted is said and left out.
  Result<void> calibrate(const Group& group) {
    Calibration calibration;
    calibration.origin = "store";
    calibration.source = fmt::format("samples of {}", session_.store_path().filename().string());
    calibration.created_utc = now_utc();
    calibration.settings =
        fmt::format("points {}, selection {}, seed {}", options_.points, options_.select, options_.seed);
    KernelChoices choices;
    Digest digest;
    digest.add(options_.points);
    digest.add(options_.select);
    digest.add(options_.seed);
    const GpuSpec* gpu = catalogue_.spec(group.key.gpu);
    if (gpu == nullptr) {
      return Error{ErrorCode::bad_data,
                   fmt::format("{} is not in the catalogue; `roofcal gpu add` adds it", group.key.gpu)};
    }
    for (const ClassSummary& summary : group.classes) {
      progress_.step(done_++);
      const auto samples = store_.samples(summary.key);
      if (!samples) return samples.error();
      digest.add(summary.key.kernel);
      for (const Sample& sample : *samples) {
        for (const std::int64_t size : sample.shape.values()) digest.add(static_cast<std::uint64_t>(size));
        digest.add(std::bit_cast<std::uint64_t>(sample.time.value()));
      }
      const auto start = std::chrono::steady_clock::now();
      auto model = fit_class(summary.key, *gpu, *samples, fit_);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      if (!model) {
        progress_.clear();
        session_.err() << fmt::format("roofcal: {}: {}\n", describe(summary.key), model.error().message);
        ++failed_;
        continue;
      }
      choices.add(*samples, summary.key.kernel);
      records_.push_back(record_of(*model, took.count()));
      calibration.models.push_back(*std::move(model));
    }
    if (calibration.models.empty()) return {};
    calibration.dispatch.emplace(group.key, choices.learn());
    return store_.put_calibration(stored_calibration_key(group.key), digest.text(), serialise_calibration(calibration));
  }

  [[nodiscard]] int failed() const { return failed_; }
  [[nodiscard]] std::vector<report::Record> records() && { return std::move(records_); }

 private:
  Session& session_;
  Store& store_;
  const GpuCatalogue& catalogue_;
  const Options& options_;
  FitOptions fit_;
  Progress& progress_;
  std::vector<report::Record> records_;
  std::int64_t done_ = 0;
  int failed_ = 0;
};

Result<int> calibrate(Session& session, const Options& options) {
  FitOptions fit;
  fit.selection = selection_of(options.select);
  fit.seed = options.seed;
  if (options.points != "all") {
    const auto points = parse_count(options.points);
    if (!points) return Error{ErrorCode::usage, fmt::format("--points: {}, or all", points.error().message)};
    if (*points < 1) return Error{ErrorCode::usage, fmt::format("--points: {} is less than 1", *points)};
    fit.points = static_cast<std::size_t>(*points);
  }
  if (!options.filter.op.empty() && find_operator(options.filter.op) == nullptr) {
    std::vector<std::string> names;
    for (const Operator* op : all_operators()) names.emplace_back(op->name());
    return Error{ErrorCode::usage,
                 fmt::format("--op: '{}' is not known; there is {}", options.filter.op, fmt::join(names, ", "))};
  }
  const auto existing = session.existing_store();
  if (!existing) return existing.error();
  const auto catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  ClassFilter filter = options.filter;
  filter.framework = framework_name(filter.framework);
  if (!filter.gpu.empty()) {
    const GpuSpec* gpu = (*catalogue)->spec(filter.gpu);
    if (gpu == nullptr) {
      const auto close = (*catalogue)->suggestions(filter.gpu);
      return Error{ErrorCode::usage,
                   fmt::format("--gpu: '{}' is not in the catalogue{}", filter.gpu,
                               close.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(close, " or ")))};
    }
    filter.gpu = gpu->name;
  }
  const auto store = session.writable_store();
  if (!store) return store.error();
  const auto classes = (*store)->classes(filter);
  if (!classes) return classes.error();
  if (classes->empty()) {
    return Error{ErrorCode::bad_data,
                 fmt::format("{} holds no samples that match; `roofcal db info` shows what there is",
                             session.store_path().string())};
  }

  Progress progress(session, "fitting", static_cast<std::int64_t>(classes->size()));
  Job job(session, **store, **catalogue, options, fit, progress);
  for (const Group& group : groups_of(*classes)) {
    const auto done = job.calibrate(group);
    if (!done) return done.error();
  }
  progress.clear();
  report::Report out;
  out.columns = columns();
  const int failed = job.failed();
  out.records = std::move(job).records();
  out.list_key = "classes";
  session.print(out);
  return failed == 0 ? 0 : 1;
}

}  // namespace

void add_calibrate(const Registry& registry) {
  CLI::App& verb = add_verb(registry, "calibrate", "fit the store's samples, one model a kernel class",
                            "  roofcal calibrate\n"
                            "  roofcal calibrate --gpu h200_sxm --op gemm --points 300 --select spread\n"
                            "MAPE, p95 and coverage are cross-validated: on points that the fit had not seen.");
  const auto options = std::make_shared<Options>();
  verb.add_option("--gpu", options->filter.gpu, "only this GPU")->type_name("G");
  verb.add_option("--op", options->filter.op, "only this operator")->type_name("OP");
  verb.add_option("--framework", options->filter.framework, "only this framework")->type_name("F");
  verb.add_option("--points", options->points, "shapes to fit a class, or all; default all")->type_name("N|all");
  verb.add_option("--select", options->select, "how to choose them: spread, random or cheap; default spread")
      ->type_name("S")
      ->check(one_of(kSelections));
  verb.add_option("--seed", options->seed, "of random choices; default 1")->type_name("S");
  Action& action = registry.action;
  verb.callback([options, &action] { action = [options](Session& session) { return calibrate(session, *options); }; });
}

}  // namespace roofcal::cli
