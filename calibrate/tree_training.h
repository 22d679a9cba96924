// Gradient-boosted trees, trained by XGBoost and frozen into a TreeEnsemble.
#pragma once

#include <cstdint>
#include <span>

#include "calibrate/feature_bins.h"
#include "calibrate/matrix.h"
#include "calibrate/tree_ensemble.h"
#include "core/result.h"

namespace roofcal {

/// XGBoost's own names and meanings, see its parameter documentation.
struct TreeOptions {
  int rounds = 400;
  int max_depth = 5;
  int max_leaves = 0;  ///< 0: grown level by level, without limit; else best leaf first
  double eta = 0.05;
  double subsample = 0.7;
  double colsample_bytree = 0.7;
  double colsample_bynode = 1.0;
  double min_child_weight = 2.0;
  double lambda = 1.0;
  std::uint64_t seed = 1;
  double leaf_step = 2e-5;  ///< leaves are rounded to multiples of this
};

/// Rows as training takes them: bins as floats (so that every split lies on a bin's edge, whatever XGBoost does).
struct TrainingRows {
  std::vector<float> bins;  ///< rows x features, row by row
  std::size_t rows = 0;
  std::size_t features = 0;

  [[nodiscard]] BinnedRows for_prediction() const;
};
[[nodiscard]] TrainingRows binned_for_training(const FeatureBins& bins, const Matrix& features);

/// Fits sum of trees = target by squared error on the rows chosen by `subset` (all when empty). Targets are rounded to
/// multiples of 1/4096. One thread, fixed seed: the same input gives the same trees on one build. `weights`: one a row
/// of the whole, or empty. Errors: what XGBoost reports.
[[nodiscard]] Result<TreeEnsemble> train_trees(const TrainingRows& rows, const Vector& targets,
                                               std::span<const double> weights, std::span<const std::size_t> subset,
                                               const TreeOptions& options);

}  // namespace roofcal
