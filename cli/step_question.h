// The step that `predict model` is asked about, from its options.
#pragma once

#include <string>

#include "core/result.h"
#include "predictor/step/memory_plan.h"
#include "predictor/step/parallelism.h"
#include "predictor/step/step_tokens.h"

namespace roofcal::cli {

struct ModelOptions;

/// What a step works on, and what waits in the cache meanwhile.
struct AskedStep {
  StepTokens tokens;
  CachedSequences cached;  ///< of one attention rank, at the length that they grow to
  std::string text;        ///< "decode of 64 sequences at 4096 tokens of context"
};

/// Errors: usage, naming the option that is missing, too large or of no use in this phase.
[[nodiscard]] Result<AskedStep> asked_step(const ModelOptions& options);
[[nodiscard]] Parallelism asked_spread(const ModelOptions& options);

}  // namespace roofcal::cli
