// roofcal-microbench: measures the GPUs of a node into the store.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "microbench/arguments.h"
#include "microbench/campaign.h"
#include "microbench/gpu/cuda_device.h"
#include "microbench/gpu/cuda_runtime_api.h"
#include "microbench/kernels/cuda_kernels.h"
#include "microbench/summary.h"
#include "microbench/time_left.h"

namespace roofcal::microbench {
namespace {

int fail(const Error& error) {
  std::cerr << "roofcal-microbench: " << error.message << '\n';
  return exit_status(error.code);
}

// On a terminal one line that is drawn anew, elsewhere a line every half minute.
class ProgressLine {
 public:
  void show(const CampaignProgress& at) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(30));
    std::cerr << (terminal_ ? "\r" : "")
              << fmt::format("[{}/{}] {} left, {:.60}", at.done, at.total, duration_text(at.left), at.current)
              << (terminal_ ? "\033[K" : "\n") << std::flush;
  }
  ~ProgressLine() {
    if (terminal_) std::cerr << "\r\033[K" << std::flush;
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  std::chrono::steady_clock::time_point next_{};
};

std::string joined(int argc, char** argv) {
  std::string out;
  for (int i = 0; i < argc; ++i) out += fmt::format("{}{}", i == 0 ? "" : " ", argv[i]);
  return out;
}

Result<GpuCatalogue> catalogue_with(const Store& store) {
  auto catalogue = GpuCatalogue::load(catalogue_folder());
  if (!catalogue) return catalogue;
  const auto added = store.gpus();
  if (!added) return added.error();
  for (const auto& [name, json] : *added) {
    if (const auto done = catalogue->add(json, name, "store"); !done) return done.error();
  }
  return catalogue;
}

// An unknown GPU is measured under its driver's name; the catalogue needs a datasheet's figures for more.
Result<void> ask_for_datasheet(const GpuFacts& facts, const GpuCatalogue& catalogue) {
  const KnownGpu known = look_up(facts, catalogue);
  if (known.in_catalogue) return {};
  const std::string file = known.spec.name + ".json";
  std::ofstream out(file);
  out << draft_catalogue_entry(facts);
  out.close();
  if (!out) return Error{ErrorCode::io, fmt::format("{}: cannot be written", file)};
  std::cerr << fmt::format(
      "roofcal-microbench: '{}' is not in the catalogue. {} has what the driver tells: add the figures listed under "
      "\"missing\" from the datasheet, then `roofcal gpu add {}`. Measuring goes on under the name {}.\n",
      facts.name, file, file, known.spec.name);
  return {};
}

Result<void> measure_gpu(CudaApi& api, Kernels& kernels, int index, Store& store, const Arguments& arguments,
                         const std::string& command_line, bool own_display, nlohmann::ordered_json& summaries) {
  std::vector<std::string> warnings;
  auto device = open_gpu(api, kernels, index, {}, warnings);
  if (!device) return device.error();
  for (const std::string& warning : warnings) std::cerr << "roofcal-microbench: warning: " << warning << '\n';
  const auto catalogue = catalogue_with(store);
  if (!catalogue) return catalogue.error();
  if (const auto asked = ask_for_datasheet((*device)->facts(), *catalogue); !asked) return asked;
  const auto chosen = choose_cases(arguments, (*device)->facts());
  if (!chosen) return chosen.error();
  for (const std::string& line : chosen->left_out) {
    std::cerr << fmt::format("roofcal-microbench: {}: {}\n", arguments.plan, line);
  }
  CampaignOptions options;
  options.cases = chosen->cases;
  options.budget = chosen->budget;
  options.measure.stopping = chosen->limits;
  options.measure.fill = arguments.zeros ? DataFill::zeros : DataFill::random;
  if (arguments.fixed_clock_mhz) {
    options.measure.clocks = ClockMode::fixed_clock;
    options.measure.fixed_clock = Hertz(1e6 * *arguments.fixed_clock_mhz);
  }
  std::random_device random;
  const std::uint64_t seed = arguments.seed.value_or((std::uint64_t{random()} << 32) | random());
  options.measure.seed = seed;
  options.order_seed = seed;
  options.resume = arguments.resume;
  options.command_line = command_line;
  options.version = ROOFCAL_VERSION;
  options.commit = ROOFCAL_COMMIT;
  ProgressLine line;
  const auto progress = [&](const CampaignProgress& at) { line.show(at); };
  if (arguments.map_kernels) {
    const auto mapped = map_kernels(**device, store, *catalogue, options, progress);
    if (!mapped) return mapped.error();
    std::cout << fmt::format("{}: the algorithm of {} of {} shapes is stored\n", (*device)->facts().name, *mapped,
                             options.cases.size());
    return {};
  }
  const auto summary = run_campaign(**device, store, *catalogue, options, own_display, progress);
  if (!summary) return summary.error();
  summaries.push_back(summary_json(*summary));
  if (!own_display) std::cout << summary_text(*summary) << std::flush;
  return {};
}

int run(int argc, char** argv) {
  const std::string command_line = joined(argc, argv);
  bool own_display = false;
  for (int i = 1; i < argc; ++i)
    own_display = own_display || std::string_view(argv[i]).starts_with("--benchmark_format");
  bool help_wanted = false;
  for (int i = 1; i < argc; ++i) help_wanted = help_wanted || std::string_view(argv[i]) == "--help";
  // Google Benchmark would show its own help and leave.
  if (!help_wanted) benchmark::Initialize(&argc, argv);
  std::string help;
  const auto arguments = read_arguments(argc, argv, help);
  if (!arguments) return fail(arguments.error());
  if (!help.empty()) {
    std::cout << help;
    return 0;
  }
  const auto api = cuda_runtime_api();
  const auto count = count_gpus(*api);
  if (!count) return fail(count.error());
  auto store = Store::open(arguments->db.empty() ? default_store_path() : std::filesystem::path(arguments->db),
                           Store::Access::write);
  if (!store) return fail(store.error());
  const auto kernels = cuda_kernels();
  nlohmann::ordered_json summaries = nlohmann::ordered_json::array();
  const int first = arguments->device.value_or(0);
  const int last = arguments->device ? first : *count - 1;
  for (int index = first; index <= last; ++index) {
    const auto done = measure_gpu(*api, *kernels, index, *store, *arguments, command_line, own_display, summaries);
    if (!done) return fail(done.error());
  }
  if (!arguments->summary.empty()) {
    std::ofstream out(arguments->summary);
    out << nlohmann::ordered_json{{"gpus", summaries}}.dump(2) << '\n';
    out.close();
    if (!out) return fail({ErrorCode::io, fmt::format("{}: cannot be written", arguments->summary)});
  }
  return 0;
}

}  // namespace
}  // namespace roofcal::microbench

int main(int argc, char** argv) { return roofcal::microbench::run(argc, argv); }
