// What every question about a GPU's time has in common: which GPU, framework, version, kernel and cache mode.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/operator.h"
#include "predictor/predictor.h"

namespace roofcal::cli {

/// Must stay where it is once add_options() was called.
struct QuestionOptions {
  std::string gpu;  ///< may be a list where the verb allows it
  std::string framework, version, kernel;
  std::string cache = "hot";

  void add_options(CLI::App& verb, const std::string& gpu_help);
  /// The question about one GPU, without operator and attributes.
  [[nodiscard]] Question question(std::string_view one_gpu) const;
};

/// Framework names are lower case throughout.
[[nodiscard]] std::string framework_name(std::string_view text);

}  // namespace roofcal::cli
