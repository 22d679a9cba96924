#include "calibrate/class_key_json.h"

#include <nlohmann/json.hpp>

#include "calibrate/json_reading.h"

namespace roofcal {

nlohmann::json class_key_to_json(const ClassKey& key) {
  return {{"op", key.op},
          {"gpu", key.gpu},
          {"framework", key.framework},
          {"version", key.version},
          {"kernel", key.kernel},
          {"attributes", key.attributes},
          {"cache", to_string(key.cache)}};
}

ClassKey class_key_from_json(const nlohmann::json& json) {
  ClassKey key;
  key.op = read_string(json, "op");
  key.gpu = read_string(json, "gpu");
  key.framework = read_string(json, "framework");
  key.version = read_string(json, "version");
  key.kernel = read_string(json, "kernel");
  const nlohmann::json& attributes = member(json, "attributes");
  require(attributes.is_object(), "\"attributes\" is not an object");
  for (const auto& [name, value] : attributes.items()) {
    require(value.is_string(), "attribute \"" + name + "\" is not a string");
    key.attributes[name] = value.get<std::string>();
  }
  const std::string cache = read_string(json, "cache");
  const auto mode = parse_cache_mode(cache);
  require(mode.has_value(), "\"cache\" = \"" + cache + "\" is neither hot nor cold");
  key.cache = *mode;
  return key;
}

}  // namespace roofcal
