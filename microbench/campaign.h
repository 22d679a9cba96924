// A run on one GPU: cases in shuffled order with a sentinel between them, each a benchmark of Google Benchmark, each
// stored as soon as it is measured.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/catalogue.h"
#include "db/store.h"
#include "microbench/ceilings.h"
#include "microbench/device.h"
#include "microbench/measure_case.h"
#include "microbench/suites.h"

namespace roofcal::microbench {

struct CampaignOptions {
  std::vector<MeasurementCase> cases;
  MeasureOptions measure;
  std::optional<Seconds> budget;  ///< after which no further case begins
  bool resume = false;            ///< leave out what the store has from the same campaign
  bool sentinels = true;
  std::size_t cases_between_sentinels = 25;
  std::uint64_t order_seed = 1;
  std::string command_line;
  std::string version;  ///< of roofcal
  std::string commit;
};

struct CampaignProgress {
  std::size_t done = 0;
  std::size_t total = 0;
  Seconds left{};
  std::string current;
};

struct CampaignSummary {
  std::string gpu;
  std::string gpu_name;
  std::size_t measured = 0;
  std::size_t wrong = 0;
  std::size_t skipped = 0;
  std::size_t already_done = 0;
  std::size_t not_reached = 0;  ///< the budget was over
  std::size_t throttled = 0;
  std::map<std::string, std::size_t> skip_reasons;
  std::vector<std::string> wrong_cases;
  std::optional<double> worst_drift;
  Seconds took{};
  std::vector<CeilingFinder::Ceiling> ceilings;
};

/// Registers and runs everything through Google Benchmark, whose flags have been read by benchmark::Initialize before.
/// `own_display`: whether its own reporter shows results on stdout too. Errors: the device failed, or the store; what
/// was measured before is stored.
[[nodiscard]] Result<CampaignSummary> run_campaign(Device& device, Store& store, const GpuCatalogue& catalogue,
                                                   const CampaignOptions& options, bool own_display,
                                                   const std::function<void(const CampaignProgress&)>& progress);

/// Asks for the algorithm of each case and stores the answers, 4096 a transaction. Returns how many had one.
[[nodiscard]] Result<std::size_t> map_kernels(Device& device, Store& store, const GpuCatalogue& catalogue,
                                              const CampaignOptions& options,
                                              const std::function<void(const CampaignProgress&)>& progress);

}  // namespace roofcal::microbench
