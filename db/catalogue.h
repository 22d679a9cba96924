// The GPU catalogue: datasheet figures with their source documents, built in (db/catalogue/*.json) or added by the
// user.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_spec.h"
#include "core/result.h"

namespace roofcal {

struct Figure {
  std::string name;    ///< key in the file: "memory_bandwidth_bytes_per_s"
  double value = 0.0;  ///< SI
  std::string source;  ///< the document, spelled out
  std::string note;
};

struct CatalogueEntry {
  GpuSpec spec;
  std::vector<std::string> aliases;
  std::vector<Figure> figures;  ///< in file order
  std::string origin;           ///< "builtin" or "store"
};

class GpuCatalogue {
 public:
  /// Reads every *.json of a folder. Errors name file and key.
  [[nodiscard]] static Result<GpuCatalogue> load(const std::filesystem::path& folder);
  /// Adds or replaces an entry from the text of a catalogue file; `where` names it in messages.
  [[nodiscard]] Result<void> add(std::string_view json, std::string_view where, std::string_view origin);

  /// By name or alias, case and separators ignored; nullptr when unknown.
  [[nodiscard]] const CatalogueEntry* find(std::string_view name) const;
  [[nodiscard]] const GpuSpec* spec(std::string_view name) const;
  [[nodiscard]] std::vector<const CatalogueEntry*> all() const;  ///< by name
  /// Names that are close to an unknown one, for "did you mean".
  [[nodiscard]] std::vector<std::string> suggestions(std::string_view name) const;

 private:
  std::map<std::string, CatalogueEntry, std::less<>> entries_;
  std::map<std::string, std::string, std::less<>> by_alias_;  ///< normalised name -> name
};

/// The folder of built-in catalogue files: below $ROOFCAL_SHARE, else below share/roofcal beside the installed program,
/// else db/catalogue of the source tree that the program was built from.
[[nodiscard]] std::filesystem::path catalogue_folder();
/// The folder of built-in calibrations, found the same way (calibrate/builtin in the source tree).
[[nodiscard]] std::filesystem::path builtin_folder();
/// The folder of built-in models (predictor/models/builtin in the source tree).
[[nodiscard]] std::filesystem::path models_folder();

}  // namespace roofcal
