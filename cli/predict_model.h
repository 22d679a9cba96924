// What `predict model` is asked: the options of its command line.
#pragma once

#include <cstdint>
#include <string>

#include "cli/question_options.h"
#include "core/result.h"
#include "predictor/models/description.h"

namespace roofcal::cli {

/// Must stay where it is once add_options() was called: the options write into it.
struct ModelOptions {
  std::string config;  ///< a file, a folder or a built-in model's name
  std::string as;      ///< --as: the family whose rules read the config; empty: its own
  std::string dtype, kv_dtype;
  bool describe = false;

  QuestionOptions question;
  std::int64_t tp = 1, pp = 1, ep = 1, dp = 1;
  std::string phase;  ///< prefill, decode or mixed; empty when not given
  std::int64_t batch = 1;
  std::int64_t isl = 0;  ///< input tokens a sequence; 0 when not given
  std::int64_t osl = 0;  ///< output tokens a sequence; 0 when not given
  std::int64_t prefix = 0;
  std::int64_t chunk = 0;    ///< prefill tokens a mixed step takes; 0 when not given
  std::string distribution;  ///< of the router; empty: the default
  std::string topology = "node";
  std::int64_t draft_tokens = 0;
  double draft_acceptance = -1.0;  ///< a fraction; negative when not given

  void add_options(CLI::App& verb);
  /// The model that config, --as, --dtype and --kv-dtype name.
  [[nodiscard]] Result<models::ModelDescription> model() const;
};

}  // namespace roofcal::cli
