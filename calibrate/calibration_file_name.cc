#include "calibrate/calibration.h"

namespace roofcal {

std::filesystem::path calibration_file_name(std::string_view gpu, std::string_view op, const Attributes& attributes) {
  std::string file(op);
  for (const auto& entry : attributes) {
    file += "-" + entry.second;
  }
  return std::filesystem::path(gpu) / (file + ".json.gz");
}

}  // namespace roofcal
