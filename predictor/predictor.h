// Answers questions about single operators from frozen calibrations, saying how it knows and how sure it is.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/calibration.h"
#include "core/roofline.h"
#include "db/catalogue.h"

namespace roofcal {

enum class Provenance { measured, interpolated, extrapolated, transferred, roofline };
[[nodiscard]] std::string_view to_string(Provenance provenance);

/// Empty strings ask for the default: framework trtllm, else vllm, else sglang; the newest version; the learned kernel.
struct Query {
  std::string gpu;
  std::string op;
  Attributes attributes;
  Shape shape;
  std::string framework, version, kernel;
  CacheMode cache = CacheMode::hot;
};

struct Prediction {
  Seconds time{}, lo{}, hi{};
  Limit bound = Limit::compute;
  Seconds roofline{};
  double efficiency = 0.0;  ///< roofline / time
  Provenance provenance = Provenance::roofline;
  std::string gpu, framework, version, kernel;
  std::vector<Neighbour> nearest;
  std::vector<std::string> warnings;
};

class Predictor {
 public:
  Predictor(const GpuCatalogue& catalogue, std::vector<Calibration> calibrations);  ///< earlier ones win
  ~Predictor();

  /// One answer. Errors: unknown GPU (usage), a dtype or operator that nothing calibrated covers (not_calibrated, with a
  /// list of what there is). `neighbours`: how many nearest points to name.
  [[nodiscard]] Result<Prediction> predict(const Query& query, std::size_t neighbours) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roofcal
