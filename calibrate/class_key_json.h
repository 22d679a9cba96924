// Class keys in calibration files.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/sample.h"

namespace roofcal {

[[nodiscard]] nlohmann::json class_key_to_json(const ClassKey& key);
/// Throws as json_reading.h says.
[[nodiscard]] ClassKey class_key_from_json(const nlohmann::json& json);

}  // namespace roofcal
