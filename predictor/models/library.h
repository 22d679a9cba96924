// Where a model's description comes from: a config.json, a folder with one, or a built-in model by its name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/result.h"
#include "predictor/models/description.h"
#include "predictor/models/read_config.h"

namespace roofcal::models {

/// The built-in models: one JSON file a model, {"source", "config", "releases": {name: what differs from the config}}.
class ModelLibrary {
 public:
  /// `folder`: see models_folder() in db/catalogue.h. Opens nothing yet.
  explicit ModelLibrary(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// `what`: a path, or a Hugging Face name (case ignored). Errors: neither, with names that are close; whatever
  /// read_config refuses.
  [[nodiscard]] Result<ModelDescription> describe(const std::string& what, const ReadOptions& options = {}) const;
  /// Names of all releases, sorted.
  [[nodiscard]] Result<std::vector<std::string>> names() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace roofcal::models
