#include "core/sample.h"

namespace roofcal {

std::string describe(const ClassKey& key) {
  std::string out = key.gpu + " " + key.op;
  for (const auto& [name, value] : key.attributes) {
    out += " " + name + "=" + value;
  }
  out += " " + key.framework + " " + key.version + " " + key.kernel;
  out += " (" + std::string(to_string(key.cache)) + ")";
  return out;
}

}  // namespace roofcal
