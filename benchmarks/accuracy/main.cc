// roofcal-accuracy: holds out a fifth, fits on few points, many and all, and compares with baselines, in one run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>

#include "benchmarks/accuracy/beyond.h"
#include "benchmarks/accuracy/experiment.h"
#include "benchmarks/accuracy/table.h"
#include "calibrate/curve.h"

namespace {

using roofcal::accuracy::ClassData;
using roofcal::accuracy::Outcome;
using roofcal::accuracy::Setting;

// Shapes that a fit on a trimmed range gets.
constexpr std::size_t kPointsForBeyond = 200;

int fail(const roofcal::Error& error) {
  fmt::print(stderr, "roofcal-accuracy: {}\n", error.message);
  return roofcal::exit_status(error.code);
}

struct Job {
  const ClassData* data;
  Setting setting;
};

// Calls `task` for 0 .. count - 1 on several threads; after a failure nothing new is begun. The first failure.
template <class Task>
std::optional<roofcal::Error> in_parallel(unsigned threads, std::size_t count, Task task) {
  std::atomic<std::size_t> next{0};
  std::mutex guard;
  std::optional<roofcal::Error> failure;
  {
    std::vector<std::jthread> workers;
    for (unsigned t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        for (std::size_t i = next++; i < count; i = next++) {
          const roofcal::Result<void> done = task(i);
          if (done) continue;
          const std::scoped_lock lock(guard);
          if (!failure) failure = done.error();
          next = count;
        }
      });
    }
  }
  return failure;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Accuracy of roofcal on held-out rows of a folder of measurement tables"};
  std::string folder = "../shared/data/silicon";
  if (const char* data = std::getenv("ROOFCAL_DATA")) folder = std::string(data) + "/silicon";
  std::string op;
  std::string filter;
  std::vector<std::string> points;
  std::uint64_t seeds = 1;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  std::size_t least_rows = 50;
  bool beyond = false;
  bool beyond_only = false;
  std::string output;
  app.add_option("--data", folder, "folder of tables; default $ROOFCAL_DATA/silicon, else " + folder);
  app.add_option("--op", op, "one operator; default all");
  app.add_option("--filter", filter, "classes whose description contains this text");
  app.add_option("--points", points, "settings: counts, all, built-in; default: as docs/accuracy.md has for each operator")->delimiter(',');
  app.add_option("--seeds", seeds, "runs with other points and folds, averaged");
  app.add_option("--jobs", jobs, "threads, a class each");
  app.add_option("--least-rows", least_rows,
                 "classes of several fields with fewer rows in the pool are left out; curves need 8 sizes");
  app.add_flag("--beyond", beyond, "also what extrapolation costs");
  app.add_flag("--beyond-only", beyond_only, "nothing but what extrapolation costs");
  app.add_option("-o,--output", output, "Markdown file; default standard output");
  CLI11_PARSE(app, argc, argv);

  std::vector<Setting> settings;
  for (const std::string& text : points) {
    const auto setting = roofcal::accuracy::parse_setting(text);
    if (!setting) return fail(setting.error());
    settings.push_back(*setting);
  }
  const auto catalogue = roofcal::GpuCatalogue::load(roofcal::catalogue_folder());
  if (!catalogue) return fail(catalogue.error());
  const auto classes = roofcal::accuracy::load_classes(folder, *catalogue, op, filter);
  if (!classes) return fail(classes.error());

  std::vector<Job> work;
  for (const ClassData& data : *classes) {
    if (data.pool.size() < roofcal::fewest_rows(*roofcal::find_operator(data.key.op), least_rows) || data.held_out.empty()) {
      fmt::print(stderr, "left out, {} rows: {}\n", data.pool.size() + data.held_out.size(),
                 roofcal::describe(data.key));
      continue;
    }
    for (const Setting& setting : settings.empty() ? roofcal::accuracy::usual_settings(data.key.op) : settings) {
      work.push_back({&data, setting});
    }
  }
  std::vector<std::optional<Outcome>> outcomes(work.size());
  std::mutex print;
  auto failure = in_parallel(jobs, beyond_only ? 0 : work.size(), [&](std::size_t i) -> roofcal::Result<void> {
    const Job& job = work[i];
    auto outcome = run(*job.data, *catalogue->spec(job.data->key.gpu), job.setting, seeds);
    if (!outcome) return outcome.error();
    outcomes[i] = *std::move(outcome);
    const auto& f = outcomes[i]->roofcal;
    const std::scoped_lock lock(print);
    fmt::print(stderr,
               "[{}/{}] {} @{}: MAPE {:.2f} p95 {:.1f} cover {:.1f} (size {:.0f}, time {:.0f}) grid {:.1f}; {:.1f} s\n",
               i + 1, work.size(), roofcal::describe(job.data->key), job.setting.name, 100 * f.mape, 100 * f.p95_ape,
               100 * f.coverage, 100 * f.worst_size_quarter, 100 * f.worst_time_tenth, 100 * outcomes[i]->grid.mape,
               outcomes[i]->fit_seconds);
    return {};
  });
  if (failure) return fail(*failure);

  std::vector<roofcal::accuracy::BeyondTrial> trials;
  const auto tried = roofcal::accuracy::classes_to_try(*classes, least_rows);
  failure = in_parallel(jobs, beyond || beyond_only ? tried.size() : 0, [&](std::size_t i) -> roofcal::Result<void> {
    auto some = roofcal::accuracy::try_beyond(*tried[i], *catalogue->spec(tried[i]->key.gpu), kPointsForBeyond);
    if (!some) return some.error();
    const std::scoped_lock lock(print);
    fmt::print(stderr, "beyond [{}/{}] {}: {} trials\n", i + 1, tried.size(), roofcal::describe(tried[i]->key),
               some->size());
    std::ranges::move(*some, std::back_inserter(trials));
    return {};
  });
  if (failure) return fail(*failure);
  // In the order of the keys, whichever thread was first.
  std::ranges::stable_sort(trials, {}, [](const auto& trial) { return std::tie(trial.key, trial.field, trial.above); });

  std::vector<Outcome> done;
  for (auto& outcome : outcomes) {
    if (outcome) done.push_back(*std::move(outcome));
  }
  std::string command = "roofcal-accuracy";
  for (int i = 1; i < argc; ++i) command += fmt::format(" {}", argv[i]);
  std::string text = beyond_only ? std::string() : roofcal::accuracy::markdown(done, command, seeds);
  if (!trials.empty()) text += roofcal::accuracy::beyond_markdown(trials, kPointsForBeyond);
  if (output.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  std::ofstream(output) << text;
  return std::filesystem::exists(output) ? 0 : 1;
}
