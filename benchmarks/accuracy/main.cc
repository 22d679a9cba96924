// roofcal-accuracy: holds out a fifth, fits on few points, many and all, and compares with baselines, in one run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "benchmarks/accuracy/experiment.h"
#include "benchmarks/accuracy/table.h"

namespace {

using roofcal::accuracy::ClassData;
using roofcal::accuracy::Outcome;
using roofcal::accuracy::Setting;

int fail(const roofcal::Error& error) {
  fmt::print(stderr, "roofcal-accuracy: {}\n", error.message);
  return roofcal::exit_status(error.code);
}

struct Job {
  const ClassData* data;
  Setting setting;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Accuracy of roofcal on held-out rows of a folder of measurement tables"};
  std::string folder = "../shared/data/silicon";
  if (const char* data = std::getenv("ROOFCAL_DATA")) folder = std::string(data) + "/silicon";
  std::string op;
  std::string filter;
  std::vector<std::string> points{"300", "1000", "all", "built-in"};
  std::uint64_t seeds = 1;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  std::size_t least_rows = 50;
  std::string output;
  app.add_option("--data", folder, "folder of tables; default $ROOFCAL_DATA/silicon, else " + folder);
  app.add_option("--op", op, "one operator; default all");
  app.add_option("--filter", filter, "classes whose description contains this text");
  app.add_option("--points", points, "settings: counts, all, built-in")->delimiter(',');
  app.add_option("--seeds", seeds, "runs with other points and folds, averaged");
  app.add_option("--jobs", jobs, "threads, a class each");
  app.add_option("--least-rows", least_rows, "classes with fewer rows in the pool are left out");
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
    if (data.pool.size() < least_rows || data.held_out.empty()) {
      fmt::print(stderr, "left out, {} rows: {}\n", data.pool.size() + data.held_out.size(),
                 roofcal::describe(data.key));
      continue;
    }
    for (const Setting& setting : settings) work.push_back({&data, setting});
  }
  std::vector<std::optional<Outcome>> outcomes(work.size());
  std::atomic<std::size_t> next{0};
  std::mutex print;
  std::vector<std::jthread> threads;
  std::optional<roofcal::Error> failure;
  for (unsigned t = 0; t < jobs; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < work.size(); i = next++) {
        const Job& job = work[i];
        auto outcome = run(*job.data, *catalogue->spec(job.data->key.gpu), job.setting, seeds);
        const std::scoped_lock lock(print);
        if (!outcome) {
          failure = outcome.error();
          next = work.size();
          return;
        }
        outcomes[i] = *std::move(outcome);
        const auto& f = outcomes[i]->roofcal;
        fmt::print(
            stderr,
            "[{}/{}] {} @{}: MAPE {:.2f} p95 {:.1f} cover {:.1f} (size {:.0f}, time {:.0f}) grid {:.1f}; {:.1f} s\n",
            i + 1, work.size(), roofcal::describe(job.data->key), job.setting.name, 100 * f.mape, 100 * f.p95_ape,
            100 * f.coverage, 100 * f.worst_size_quarter, 100 * f.worst_time_tenth, 100 * outcomes[i]->grid.mape,
            outcomes[i]->fit_seconds);
      }
    });
  }
  threads.clear();
  if (failure) return fail(*failure);

  std::vector<Outcome> done;
  for (auto& outcome : outcomes) done.push_back(*std::move(outcome));
  std::string command = "roofcal-accuracy";
  for (int i = 1; i < argc; ++i) command += fmt::format(" {}", argv[i]);
  const std::string text = roofcal::accuracy::markdown(done, command, seeds);
  if (output.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  std::ofstream(output) << text;
  return std::filesystem::exists(output) ? 0 : 1;
}
