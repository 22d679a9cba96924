// roofcal-plan-replay: what the measuring plan gains over random and space-filling choice, at equal GPU seconds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "benchmarks/plan/replay.h"
#include "benchmarks/plan/replay_table.h"
#include "calibrate/curve.h"

namespace {

namespace replaying = roofcal::plan_replay;

int fail(const roofcal::Error& error) {
  fmt::print(stderr, "roofcal-plan-replay: {}\n", error.message);
  return roofcal::exit_status(error.code);
}

double mean_mape(const std::vector<replaying::ClassOutcome>& classes) {
  double sum = 0.0;
  for (const auto& outcome : classes) sum += outcome.mape;
  return sum / static_cast<double>(classes.size());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Replays measurement tables: the measuring plan against random and space-filling choice"};
  std::string folder = "../shared/data/silicon";
  if (const char* data = std::getenv("ROOFCAL_DATA")) folder = std::string(data) + "/silicon";
  std::string gpu = "h200_sxm";
  std::string framework = "trtllm";
  std::string op;
  std::vector<double> budgets{15, 30, 60, 120, 300, 600};
  std::uint64_t seeds = 1;
  unsigned jobs = 1;
  std::size_t least_rows = 50;
  std::string output;
  app.add_option("--data", folder, "folder of tables; default $ROOFCAL_DATA/silicon, else " + folder);
  app.add_option("--gpu", gpu, "GPU");
  app.add_option("--framework", framework, "framework");
  app.add_option("--op", op, "one operator; default all");
  app.add_option("--budgets", budgets, "GPU seconds, ascending")->delimiter(',');
  app.add_option("--seeds", seeds, "runs, averaged");
  app.add_option("--jobs", jobs, "threads, a class each");
  app.add_option("--least-rows", least_rows, "classes of several fields with fewer rows in the pool are left out");
  app.add_option("-o,--output", output, "Markdown file; default standard output");
  CLI11_PARSE(app, argc, argv);

  const auto catalogue = roofcal::GpuCatalogue::load(roofcal::catalogue_folder());
  if (!catalogue) return fail(catalogue.error());
  const auto classes = roofcal::accuracy::load_classes(folder, *catalogue, op, gpu + " ");
  if (!classes) return fail(classes.error());
  replaying::Replay replay;
  replay.catalogue = &*catalogue;
  replay.budgets = budgets;
  replay.threads = jobs;
  for (const auto& data : *classes) {
    if (data.key.gpu != gpu || data.key.framework != framework || data.held_out.empty()) continue;
    if (data.pool.size() < roofcal::fewest_rows(*roofcal::find_operator(data.key.op), least_rows)) continue;
    replay.classes.push_back(&data);
  }
  if (replay.classes.empty()) {
    return fail({roofcal::ErrorCode::bad_data, fmt::format("{} holds no rows of {} {}", folder, gpu, framework)});
  }

  replaying::Comparison comparison;
  for (const auto* data : replay.classes) {
    comparison.keys.push_back(data->key);
    comparison.pools.push_back(data->pool.size());
  }
  comparison.budgets = budgets;
  comparison.seeds = seeds;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const auto strategy : replaying::kStrategies) {
      auto outcomes = replaying::run(replay, strategy, seed);
      if (!outcomes) return fail(outcomes.error());
      for (std::size_t i = 0; i < budgets.size(); ++i) {
        fmt::print(stderr, "seed {} {}: {} s: {:.2f} %\n", seed, to_string(strategy), budgets[i],
                   100 * mean_mape((*outcomes)[i]));
      }
      comparison.runs[strategy].push_back(*std::move(outcomes));
    }
  }
  auto whole = replaying::whole_tables(replay);
  if (!whole) return fail(whole.error());
  comparison.whole = *std::move(whole);
  fmt::print(stderr, "{} classes, whole tables: {:.2f} %\n", replay.classes.size(), 100 * mean_mape(comparison.whole));
  std::string command = "roofcal-plan-replay";
  for (int i = 1; i < argc; ++i) command += fmt::format(" {}", argv[i]);
  const std::string text = replaying::markdown(comparison, replay.cost, command);
  if (output.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  std::ofstream file(output);
  file << text;
  file.close();
  return file ? 0 : fail({roofcal::ErrorCode::io, fmt::format("cannot write {}", output)});
}
