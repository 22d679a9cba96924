// The outcomes as the Markdown of docs/accuracy.md.
#pragma once

#include <span>
#include <string>

#include "benchmarks/accuracy/experiment.h"

namespace roofcal::accuracy {

/// One table an operator: a row a class and setting, then means. `command`: what made it.
[[nodiscard]] std::string markdown(std::span<const Outcome> outcomes, const std::string& command, std::uint64_t seeds);

}  // namespace roofcal::accuracy
