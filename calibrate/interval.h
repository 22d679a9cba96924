// How far off an estimate may be: a small model of the error's scale times conformal quantiles by size.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "calibrate/feature_bins.h"
#include "calibrate/matrix.h"
#include "calibrate/tree_ensemble.h"
#include "calibrate/tree_training.h"
#include "core/result.h"

namespace roofcal {

/// Quantiles of (log t - log estimate) / scale of one bin of sizes.
struct Quantiles {
  double lo = 0.0;  ///< 5 %
  double hi = 0.0;  ///< 95 %
};

/// What an IntervalModel is fitted from: one entry a point, from fits that had not seen the point.
struct HeldOutErrors {
  Vector log_errors;                ///< log t - log estimate
  std::vector<std::int64_t> sizes;  ///< the size field of each point, > 0
  std::vector<std::size_t> folds;   ///< which fold each point was held out in
  std::vector<double> weights;      ///< how many shapes each point stands for; all alike when empty
};

class IntervalModel {
 public:
  static constexpr std::size_t kBins = 4;

  IntervalModel() = default;
  /// Split conformal prediction (Lei et al., JASA 113, 2018) with a scale of boosted trees: scale = exp(trees(z)),
  /// fitted to log(|error| + 0.4 %). Scales under the quantiles come from trees that had not seen the point either.
  /// Bins are quarters of the logarithmic range of the size; a bin's quantiles are shrunk towards those of all points,
  /// the more the fewer points it has.
  [[nodiscard]] static Result<IntervalModel> fit(const HeldOutErrors& errors, const TrainingRows& rows,
                                                 std::uint64_t seed);

  /// Quantiles of log t - log estimate that were found elsewhere: the same scale everywhere. `edges`: sizes at which
  /// the next bin begins, ascending. Preconditions: lo <= 0 <= hi.
  [[nodiscard]] static IntervalModel of_quantiles(const std::array<std::int64_t, kBins - 1>& edges,
                                                  const std::array<Quantiles, kBins>& quantiles, double coverage);

  /// ln of the error's scale for each row.
  void log_scales(const BinnedRows& rows, std::span<double> out) const;
  /// Quantiles for a size, on the scale of the errors of that size.
  [[nodiscard]] const Quantiles& quantiles(std::int64_t size) const;
  /// The share of the points within their interval, each judged by quantiles from the other folds.
  [[nodiscard]] double cross_validated_coverage() const { return coverage_; }

  [[nodiscard]] nlohmann::json to_json() const;
  /// Throws as json_reading.h says.
  [[nodiscard]] static IntervalModel from_json(const nlohmann::json& json, const FeatureBins& bins);

 private:
  TreeEnsemble scale_;
  double log_scale_mean_ = 0.0;
  std::array<std::int64_t, kBins - 1> edges_{};  ///< sizes at which the next bin begins
  std::array<Quantiles, kBins> quantiles_{};
  double coverage_ = 0.0;
};

}  // namespace roofcal
