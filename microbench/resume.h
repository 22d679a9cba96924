// Going on after a kill: the store itself is the journal, so that what was measured and what is known to be measured
// cannot disagree.
#pragma once

#include <set>
#include <span>
#include <string>

#include "core/result.h"
#include "db/store.h"
#include "microbench/gpu_facts.h"
#include "microbench/measurement_case.h"

namespace roofcal::microbench {

/// What makes two runs one campaign: the same GPU (UUID), driver and library versions, clock mode and data. Samples of
/// another campaign do not count as done. 16 hexadecimal digits.
[[nodiscard]] std::string campaign_id(const GpuFacts& facts, ClockMode clocks, std::string_view data_fill);

/// Ids of the cases that the store has from this campaign: measured, or found to be wrong.
[[nodiscard]] Result<std::set<std::string>> done_cases(const Store& store, const std::string& gpu,
                                                       const std::string& campaign);

}  // namespace roofcal::microbench
