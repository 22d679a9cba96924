// Which layer of a model does what: fields such as `layer_types`, `first_k_dense_replace` or `sliding_window_pattern`,
// or what a family does when its config has none of them.
#pragma once

#include <cstdint>
#include <vector>

#include "predictor/models/config_fields.h"
#include "predictor/models/families.h"

namespace roofcal::models {

enum class LayerType { full, sliding, linear };

/// One entry a layer. What is wrong or missing is noted in `fields`.
[[nodiscard]] std::vector<LayerType> layer_types(ConfigFields& fields, const Family& family, std::int64_t layers);

/// Which layers have experts rather than a dense feed-forward. Precondition: the model has experts.
[[nodiscard]] std::vector<bool> moe_layers(ConfigFields& fields, const Family& family, std::int64_t layers);

}  // namespace roofcal::models
