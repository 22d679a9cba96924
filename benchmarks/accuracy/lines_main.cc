// roofcal-lines: how a built-in calibration behaves between the shapes that it was fitted to.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "benchmarks/accuracy/lines.h"
#include "calibrate/calibration.h"
#include "calibrate/fit.h"
#include "db/read_classes.h"

namespace {

int fail(const roofcal::Error& error) {
  fmt::print(stderr, "roofcal-lines: {}\n", error.message);
  return roofcal::exit_status(error.code);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Dips of the built-in calibrations along lines through their range, and whether the measurements show them"};
  std::string folder = "../shared/data/silicon";
  if (const char* data = std::getenv("ROOFCAL_DATA")) folder = std::string(data) + "/silicon";
  std::string op = "gemm";
  std::string filter;
  std::size_t lines = 200;
  app.add_option("--data", folder, "folder of tables; default $ROOFCAL_DATA/silicon, else " + folder);
  app.add_option("--op", op, "operator");
  app.add_option("--filter", filter, "classes whose description contains this text");
  app.add_option("--lines", lines, "lines a class");
  CLI11_PARSE(app, argc, argv);

  const auto catalogue = roofcal::GpuCatalogue::load(roofcal::catalogue_folder());
  if (!catalogue) return fail(catalogue.error());
  const auto classes = roofcal::read_classes(folder, *catalogue, [&](const roofcal::ClassKey& key) {
    return key.op == op && roofcal::describe(key).find(filter) != std::string::npos;
  });
  if (!classes) return fail(classes.error());
  fmt::print("| class | steps | dips | not in the measurements |\n|---|---|---|---|\n");
  for (const auto& [key, samples] : *classes) {
    const auto file = roofcal::builtin_folder() / roofcal::calibration_file_name(key.gpu, key.op, key.attributes);
    if (!std::filesystem::exists(file)) continue;
    const auto calibration =
        roofcal::load_calibration(file, [&](std::string_view name) { return catalogue->spec(name); });
    if (!calibration) return fail(calibration.error());
    for (const roofcal::ClassModel& model : calibration->models) {
      if (model.key() != key) continue;
      const auto figures = roofcal::accuracy::judge_lines(model, roofcal::merge_repeats(samples), lines, 1);
      fmt::print("| {} | {} | {} | {} |\n", roofcal::describe(key), figures.steps, figures.dips, figures.unexplained);
      std::fflush(stdout);
    }
  }
  return 0;
}
