// The operator calls that language models make on a GPU, each weighted by its share of the time of a step.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "predictor/models/description.h"
#include "predictor/plan/plan_classes.h"
#include "predictor/predictor.h"

namespace roofcal {

/// Steps of each model: prefills of one prompt of 128 to 16384 tokens, decodes of 1 to 256 sequences at 512 to 32768
/// tokens of context, on the fewest GPUs that hold it (1, 2, 4 or 8) and on twice as many, experts split and whole.
/// All models and all steps count alike. Calls that no table covers are left out. Errors: a GPU that lacks the
/// arithmetic of a model, a model that no eight of it hold.
[[nodiscard]] Result<std::vector<WeightedCall>> model_calls(const Predictor& predictor, const GpuSpec& gpu,
                                                            std::span<const models::ModelDescription> models,
                                                            const std::string& framework);

}  // namespace roofcal
