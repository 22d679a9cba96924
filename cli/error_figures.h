// How good predictions were: figures over (predicted, measured) pairs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "predictor/predictor.h"
#include "report/report.h"

namespace roofcal::cli {

class ErrorFigures {
 public:
  /// `measured` > 0.
  void add(const Answer& answer, Seconds measured);
  void add_unanswered(std::int64_t rows) { unanswered_ += rows; }
  void add(const ErrorFigures& other);

  [[nodiscard]] std::int64_t answered() const { return static_cast<std::int64_t>(errors_.size()); }
  [[nodiscard]] std::int64_t unanswered() const { return unanswered_; }

  /// n, mape, median_ape, p90_ape, p95_ape, max_ape: of |predicted / measured - 1|; percentiles interpolate linearly.
  /// bias: mean of predicted / measured - 1. coverage90: share of measured times within [lo, hi]. halfwidth90: mean of
  /// (hi - lo) / (2 predicted). All fractions, null where nothing was answered. Then counts by provenance, and rows
  /// without an answer.
  [[nodiscard]] static std::vector<report::Column> columns();
  [[nodiscard]] report::Record record() const;

 private:
  std::vector<double> errors_;  // signed, relative
  std::int64_t covered_ = 0;
  double halfwidths_ = 0.0;
  std::array<std::int64_t, kProvenanceCount> provenance_{};
  std::int64_t unanswered_ = 0;
};

}  // namespace roofcal::cli
