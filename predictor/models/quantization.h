// How a release stores its weights: quantization_config of a config.json, or ModelOpt's hf_quant_config.json beside it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/result.h"
#include "predictor/models/description.h"

namespace roofcal::models {

/// Formats of the parts of a model. `quantization`: the object, or null for a release without one; `base`: the 16-bit
/// format of the rest; `layer`: a layer (counted from 0) whose modules stand for all when exceptions are named layer by
/// layer. The output head stays at `base`: no engine quantises it. Errors: a method that is not known, by name.
[[nodiscard]] Result<Formats> read_formats(const nlohmann::json& quantization, const std::string& base,
                                           std::int64_t layer);

}  // namespace roofcal::models
