// The command line of roofcal-microbench, beside Google Benchmark's own --benchmark_ flags.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "microbench/measure_case.h"
#include "microbench/suites.h"

namespace roofcal::microbench {

struct Arguments {
  std::string db;  ///< empty: the default store
  std::string op;
  std::string plan;
  Suite suite = Suite::llm;
  std::optional<double> minutes;  ///< a GPU; nullopt: the suite's
  std::optional<int> device;      ///< nullopt: all, one after another
  bool resume = false;
  bool exhaustive = false;
  bool map_kernels = false;
  bool ceilings = false;  ///< only what the highest rates are found from
  bool zeros = false;
  std::optional<double> fixed_clock_mhz;  ///< that the operator has set
  std::string summary;                    ///< file for the summary as JSON
  std::optional<std::uint64_t> seed;
};

/// `help` is filled instead where it was asked for. Errors: usage.
[[nodiscard]] Result<Arguments> read_arguments(int argc, const char* const* argv, std::string& help);

/// Cases and options of one GPU by the arguments. `left_out`: lines of a plan that are not measured.
struct Chosen {
  std::vector<MeasurementCase> cases;
  StoppingLimits limits;
  std::optional<Seconds> budget;
  std::vector<std::string> left_out;
};
[[nodiscard]] Result<Chosen> choose_cases(const Arguments& arguments, const GpuFacts& facts);

}  // namespace roofcal::microbench
