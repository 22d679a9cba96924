// roofcal-replay: coverage of the interval of steps that are put together from held-out measurements.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/replay/replay.h"

namespace {

int fail(const roofcal::Error& error) {
  fmt::print(stderr, "roofcal-replay: {}\n", error.message);
  return roofcal::exit_status(error.code);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace roofcal;
  CLI::App app("Coverage of the interval of steps that are put together from held-out measurements");
  std::string data;
  std::vector<std::string> gpus{"h200_sxm"};
  std::vector<std::string> frameworks{"trtllm", "vllm"};
  std::vector<double> correlations{0.0, 0.5, 1.0};
  std::size_t points = 0;
  std::int64_t steps = 2000;
  app.add_option("--data", data, "folder of measurement tables; default $ROOFCAL_DATA/silicon")
      ->envname("ROOFCAL_DATA");
  app.add_option("--gpu", gpus, "GPUs")->delimiter(',');
  app.add_option("--framework", frameworks, "frameworks")->delimiter(',');
  app.add_option("--correlation", correlations, "of two shapes of a class")->delimiter(',');
  app.add_option("--points", points, "shapes that a class is fitted on; 0: all, as the built-in ones are");
  app.add_option("--steps", steps, "a kind");
  CLI11_PARSE(app, argc, argv);

  const auto catalogue = GpuCatalogue::load(catalogue_folder());
  if (!catalogue) return fail(catalogue.error());
  fmt::print(
      "| GPU | framework | kind | steps | error | correlation: coverage (half-width) |\n|---|---|---|---|---|---|\n");
  for (const std::string& gpu : gpus) {
    for (const std::string& framework : frameworks) {
      const auto operators = replay::load(data + "/silicon/" + gpu, *catalogue, gpu, framework, points);
      if (!operators) return fail(operators.error());
      for (int i = 0; i < replay::kKinds; ++i) {
        const auto kind = static_cast<replay::Kind>(i);
        std::string line;
        replay::Coverage last;
        for (const double correlation : correlations) {
          last = replay::replay(*operators, kind, steps, correlation, 1);
          line += fmt::format("{}{:.2f}: {:.1f} ({:.1f})", line.empty() ? "" : ", ", correlation, 100.0 * last.covered,
                              100.0 * last.halfwidth);
        }
        if (last.steps == 0) continue;
        fmt::print("| {} | {} | {} | {} | {:.1f} | {} |\n", gpu, framework, replay::to_string(kind), last.steps,
                   100.0 * last.error, line);
        std::fflush(stdout);
      }
    }
  }
  return 0;
}
