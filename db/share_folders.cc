// Where the data that come with the program lie.
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "db/catalogue.h"

namespace roofcal {
namespace {

namespace fs = std::filesystem;

// `installed`: name below share/roofcal; `in_source`: the same data in the source tree.
fs::path data_folder(const char* installed, const char* in_source) {
  if (const char* share = std::getenv("ROOFCAL_SHARE"); share != nullptr && *share != '\0') {
    return fs::path(share) / installed;
  }
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  if (!failure) {
    const fs::path beside = program.parent_path().parent_path() / "share" / "roofcal" / installed;
    if (fs::is_directory(beside, failure)) return beside;
  }
  return fs::path(ROOFCAL_SOURCE_DIR) / in_source;
}

}  // namespace

fs::path catalogue_folder() { return data_folder("catalogue", "db/catalogue"); }
fs::path builtin_folder() { return data_folder("builtin", "calibrate/builtin"); }
fs::path models_folder() { return data_folder("models", "predictor/models/builtin"); }

}  // namespace roofcal
