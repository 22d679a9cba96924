// `predict model --describe`: what a model holds, without a GPU.
#pragma once

#include "core/result.h"

namespace roofcal::cli {

class Session;
struct ModelOptions;

[[nodiscard]] Result<int> describe_model(Session& session, const ModelOptions& options);

}  // namespace roofcal::cli
