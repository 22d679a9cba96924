// What a run comes to, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "microbench/campaign.h"

namespace roofcal::microbench {

[[nodiscard]] std::string summary_text(const CampaignSummary& summary);
[[nodiscard]] nlohmann::ordered_json summary_json(const CampaignSummary& summary);

}  // namespace roofcal::microbench
