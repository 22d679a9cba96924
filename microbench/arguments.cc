#include "microbench/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>

#include "microbench/ceilings.h"
#include "microbench/plan_cases.h"

namespace roofcal::microbench {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  roofcal-microbench --suite quick\n"
    "  roofcal-microbench --plan plan.csv --minutes 10 --resume\n"
    "  roofcal-microbench --op gemm --benchmark_filter='dtype=fp8' --benchmark_format=json\n"
    "Google Benchmark's flags (--benchmark_filter, --benchmark_out, ...) work as ever.\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 no GPU.";

}  // namespace

Result<Arguments> read_arguments(int argc, const char* const* argv, std::string& help) {
  Arguments out;
  std::string suite = "llm";
  CLI::App app("Measures a GPU's kernels and stores what it measured.", "roofcal-microbench");
  app.footer(kFooter);
  app.add_option("--db", out.db, "the store");
  app.add_option("--op", out.op, "only gemm, memory, launch or transfer")
      ->check(CLI::IsMember({"gemm", "memory", "launch", "transfer"}));
  auto* plan = app.add_option("--plan", out.plan, "a list of shapes, as `roofcal plan --output` writes it");
  app.add_option("--suite", suite, "quick, llm or full: one, ten, sixty minutes; default llm")
      ->check(CLI::IsMember({"quick", "llm", "full"}))
      ->excludes(plan);
  app.add_option("--minutes", out.minutes, "a GPU, at most; default the suite's")->check(CLI::PositiveNumber);
  app.add_option("--device", out.device, "index of one GPU; default all, one after another")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--resume", out.resume, "leave out what the store has of this GPU, driver and libraries");
  app.add_flag("--exhaustive", out.exhaustive, "time all algorithms of each GEMM too, and measure the fastest");
  app.add_flag("--map-kernels", out.map_kernels, "ask for the algorithm of a dense grid of GEMMs, timing nothing");
  app.add_flag("--ceilings", out.ceilings, "only the highest FLOP/s and bandwidths")->excludes(plan);
  app.add_flag("--zeros", out.zeros, "time on zeros instead of random data (faster, and flagged)");
  app.add_option("--fixed-clock", out.fixed_clock_mhz, "the SM clock in MHz that you have fixed")
      ->check(CLI::PositiveNumber);
  app.add_option("--summary", out.summary, "a file for the summary as JSON");
  app.add_option("--seed", out.seed, "of order and data; default: another one each time");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    help = app.help();
    return out;
  } catch (const CLI::ParseError& error) {
    return Error{ErrorCode::usage, fmt::format("{} (`roofcal-microbench --help` shows how)", error.what())};
  }
  out.suite = *parse_suite(suite);
  return out;
}

Result<Chosen> choose_cases(const Arguments& arguments, const GpuFacts& facts) {
  Chosen out;
  out.limits = limits_of(arguments.suite);
  out.budget = budget_of(arguments.suite);
  if (arguments.map_kernels) {
    out.cases = map_cases(facts.capability());
    out.budget.reset();
  } else if (!arguments.plan.empty()) {
    const auto list = read_shape_list(arguments.plan);
    if (!list) return list.error();
    PlanCases planned = plan_cases(*list);
    out.cases = std::move(planned.cases);
    out.left_out = std::move(planned.left_out);
    out.budget.reset();  // a plan has been made for its own minutes
    std::erase_if(out.cases, [&](const auto& one) { return !arguments.op.empty() && one.op != arguments.op; });
  } else {
    if (!arguments.ceilings) out.cases = suite_cases(arguments.suite, facts, arguments.op);
    if (arguments.ceilings || arguments.suite != Suite::quick) {
      std::set<std::string> known;
      for (const auto& one : out.cases) known.insert(case_id(one));
      for (auto& one : ceiling_cases(facts)) {
        if (!arguments.op.empty() && one.op != arguments.op) continue;
        if (known.insert(case_id(one)).second) out.cases.push_back(std::move(one));
      }
    }
  }
  if (arguments.exhaustive && !arguments.map_kernels) add_exhaustive(out.cases);
  if (arguments.minutes) out.budget = Seconds(60.0 * *arguments.minutes);
  return out;
}

}  // namespace roofcal::microbench
