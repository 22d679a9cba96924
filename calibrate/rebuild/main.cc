// roofcal-rebuild: fits the built-in calibrations from a folder of public measurement tables. Called by
// scripts/rebuild-builtins.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "calibrate/calibration.h"
#include "calibrate/curve.h"
#include "calibrate/fit.h"
#include "calibrate/kernel_choices.h"
#include "calibrate/memory_stand_in.h"
#include "db/read_classes.h"

namespace {

namespace fs = std::filesystem;
using roofcal::Calibration;
using roofcal::ClassKey;
using roofcal::Result;
using roofcal::Sample;

// Fewer rows are too few to fit and to cross-validate; curves need less.
constexpr std::size_t kLeastRows = 20;

// Where the tables come from: docs/data.md. The date is that of the source, so that a rebuild gives the same bytes.
constexpr const char* kSource = "AIConfigurator operator tables, github.com/ai-dynamo/aiconfigurator, commit 095f58a51";
constexpr const char* kSourceDate = "2026-08-21T00:00:00Z";
constexpr const char* kSettings =
    "compact form, all points, seed 1, errors cross-validated in 4 folds (docs/accuracy.md, built-in)";
constexpr const char* kMemorySettings =
    "derived, no memory-bound kernel was timed: launch floor and bandwidth of GEMMs (docs/data.md)";
constexpr const char* kLicence = "Apache-2.0, Copyright NVIDIA CORPORATION & AFFILIATES";

using Classes = std::map<ClassKey, std::vector<Sample>>;

// The classes that one file holds: all frameworks, versions and kernels of (gpu, op, attributes).
struct FileJob {
  fs::path file;
  std::vector<ClassKey> keys;
};

std::vector<FileJob> jobs_of(const Classes& classes, const std::function<bool(const ClassKey&)>& asked_for) {
  std::map<fs::path, FileJob> jobs;
  for (const auto& [key, samples] : classes) {
    if (!asked_for(key)) continue;
    if (samples.size() < roofcal::fewest_rows(*roofcal::find_operator(key.op), kLeastRows)) {
      fmt::print(stderr, "left out, {} rows: {}\n", samples.size(), roofcal::describe(key));
      continue;
    }
    const auto name = roofcal::calibration_file_name(key.gpu, key.op, key.attributes);
    auto& job = jobs[name];
    job.file = name;
    job.keys.push_back(key);
  }
  std::vector<FileJob> out;
  for (auto& entry : jobs) out.push_back(std::move(entry.second));
  return out;
}

// Which kernel each framework version chose for a shape.
void learn_dispatch(const Classes& classes, std::span<const ClassKey> keys, Calibration& calibration) {
  std::map<ClassKey, roofcal::KernelChoices> groups;
  for (const ClassKey& key : keys) {
    ClassKey group = key;
    group.kernel.clear();
    groups[group].add(classes.at(key), key.kernel);
  }
  for (const auto& [group, choices] : groups) calibration.dispatch.emplace(group, choices.learn());
}

Calibration empty_calibration(const char* settings) {
  Calibration calibration;
  calibration.origin = "builtin";
  calibration.source = kSource;
  calibration.licence = kLicence;
  calibration.settings = settings;
  calibration.created_utc = kSourceDate;
  return calibration;
}

Result<Calibration> fit_file(const Classes& classes, const roofcal::GpuCatalogue& catalogue, const FileJob& job) {
  Calibration calibration = empty_calibration(kSettings);
  for (const ClassKey& key : job.keys) {
    roofcal::FitOptions options;
    options.compact = true;
    options.publish_times = false;
    auto model = roofcal::fit_class(key, *catalogue.spec(key.gpu), classes.at(key), options);
    if (!model) return model.error();
    const auto& f = model->figures();
    fmt::print(stderr, "{}: {} rows, cross-validated MAPE {:.2f} %, coverage {:.1f} %{}\n", roofcal::describe(key),
               f.rows, 100 * f.mape, 100 * f.coverage90, f.host_bound ? ", host-bound" : "");
    calibration.models.push_back(*std::move(model));
  }
  learn_dispatch(classes, job.keys, calibration);
  return calibration;
}

// Memory-bound kernels of each GPU, which no table has.
Result<std::size_t> derive_memory(const Classes& classes, const roofcal::GpuCatalogue& catalogue,
                                  const fs::path& output) {
  std::set<std::string> gpus;
  for (const auto& entry : classes) {
    if (roofcal::tells_about_memory(entry.first)) gpus.insert(entry.first.gpu);
  }
  std::size_t files = 0;
  for (const std::string& name : gpus) {
    const roofcal::GpuSpec& gpu = *catalogue.spec(name);
    const auto figures = roofcal::memory_figures(gpu, classes);
    if (!figures) {
      fmt::print(stderr, "memory left out: {}\n", figures.error().message);
      continue;
    }
    Calibration calibration = empty_calibration(kMemorySettings);
    for (const auto cache : {roofcal::CacheMode::hot, roofcal::CacheMode::cold}) {
      auto model = roofcal::memory_stand_in(gpu, classes, cache);
      if (!model) return model.error();
      calibration.models.push_back(*std::move(model));
    }
    fmt::print(
        stderr,
        "{} memory: derived from {} rows: launch floor {:.2f} us, {:.3f} TB/s by GEMM, {:.3f} by decode attention\n",
        name, calibration.models.front().figures().rows, 1e6 * figures->launch_floor.value(),
        1e-12 * figures->by_gemm.value(), 1e-12 * figures->by_attention.value());
    const fs::path file = output / roofcal::calibration_file_name(name, "memory", {});
    std::error_code ignored;  // a folder that cannot be made shows when the file is written
    fs::create_directories(file.parent_path(), ignored);
    if (const auto saved = roofcal::save_calibration(calibration, file); !saved) return saved.error();
    ++files;
  }
  return files;
}

int fail(const roofcal::Error& error) {
  fmt::print(stderr, "roofcal-rebuild: {}\n", error.message);
  return roofcal::exit_status(error.code);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Fits the built-in calibrations from a folder of public measurement tables (docs/data.md)"};
  std::string folder;
  std::string output;
  std::string op;
  std::string gpu;
  std::vector<std::string> dtypes;
  unsigned threads_wanted = std::max(1U, std::thread::hardware_concurrency());
  app.add_option("--data", folder, "folder of tables")->required();
  app.add_option("-o,--output", output, "folder of calibrations, e.g. calibrate/builtin")->required();
  app.add_option("--op", op, "one operator; default all");
  app.add_option("--gpu", gpu, "one GPU; default all");
  app.add_option("--dtypes", dtypes, "number formats; default all")->delimiter(',');
  app.add_option("--jobs", threads_wanted, "threads, a file each");
  CLI11_PARSE(app, argc, argv);

  const auto catalogue = roofcal::GpuCatalogue::load(roofcal::catalogue_folder());
  if (!catalogue) return fail(catalogue.error());
  const auto asked_for = [&](const ClassKey& key) {
    const auto dtype = key.attributes.find("dtype");
    const bool dtype_wanted =
        dtypes.empty() || dtype == key.attributes.end() || std::ranges::find(dtypes, dtype->second) != dtypes.end();
    return (op.empty() || key.op == op) && (gpu.empty() || key.gpu == gpu) && dtype_wanted;
  };
  const bool memory_too = (op.empty() || op == "memory") && dtypes.empty();
  const auto classes = roofcal::read_classes(folder, *catalogue, [&](const ClassKey& key) {
    return asked_for(key) || (memory_too && (gpu.empty() || key.gpu == gpu) && roofcal::tells_about_memory(key));
  });
  if (!classes) return fail(classes.error());
  const auto derived = memory_too ? derive_memory(*classes, *catalogue, output) : Result<std::size_t>(std::size_t{0});
  if (!derived) return fail(derived.error());

  const auto work = jobs_of(*classes, asked_for);
  std::atomic<std::size_t> next{0};
  std::mutex guard;
  std::optional<roofcal::Error> failure;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < threads_wanted; ++t) {
      threads.emplace_back([&] {
        for (std::size_t i = next++; i < work.size(); i = next++) {
          const fs::path file = fs::path(output) / work[i].file;
          const auto calibration = fit_file(*classes, *catalogue, work[i]);
          std::error_code ignored;  // a folder that cannot be made shows when the file is written
          fs::create_directories(file.parent_path(), ignored);
          const auto saved =
              calibration ? roofcal::save_calibration(*calibration, file) : Result<void>(calibration.error());
          if (saved) continue;
          const std::scoped_lock lock(guard);
          failure = saved.error();
          next = work.size();
        }
      });
    }
  }
  if (failure) return fail(*failure);
  fmt::print(stderr, "{} files written below {}\n", work.size() + *derived, output);
  return 0;
}
