// A Hugging Face config.json becomes a ModelDescription.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "predictor/models/description.h"

namespace roofcal::models {

struct ReadOptions {
  /// Read by the rules of this family, whatever the config says it is; empty: by its own.
  std::string as = {};
  /// Text of a hf_quant_config.json that lies beside the config; empty when there is none.
  std::string quantization = {};
  /// The format of all weights that releases quantise, whatever the config says (core/dtype.h); empty: as it says.
  std::string dtype = {};
};

/// `name`: what the model is called; `where`: names the file in messages. Errors (bad_data): JSON that is none, an
/// architecture that is not known, a draft model or an encoder, and all fields that are missing, by name.
[[nodiscard]] Result<ModelDescription> read_config(std::string_view json, const std::string& name,
                                                   const std::string& where, const ReadOptions& options = {});

}  // namespace roofcal::models
