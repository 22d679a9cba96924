// What the physical mean leaves over: log(t / X w), learned by a Gaussian process and boosted trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/feature_bins.h"
#include "calibrate/featurizer.h"
#include "calibrate/gaussian_process.h"
#include "calibrate/matrix.h"
#include "calibrate/tree_ensemble.h"
#include "calibrate/tree_training.h"
#include "core/result.h"

namespace roofcal {

/// How the residual is learned, by the number of points: weights alone below 50; process and trees blended while the
/// process's matrix is small; trees alone beyond. Both are fitted twice: the second time, points that the first,
/// held-out fit missed by far count less.
struct ResidualPlan {
  bool process = false;
  bool trees = false;
  double process_share = 0.0;
  std::size_t folds = 5;
  /// Weights of a leaf to try beside the options', where noise may ask for larger leaves; cross-validation chooses.
  std::vector<double> min_child_weights;
  TreeOptions final_trees;  ///< of the model itself
  TreeOptions fold_trees;   ///< of the folds: smaller where that tells the error as well
};
[[nodiscard]] ResidualPlan plan_residual(std::size_t points, bool compact, std::uint64_t seed);

struct Residual {
  GaussianProcess process;
  TreeEnsemble trees;
  double process_share = 0.0;

  /// The residual at each row.
  [[nodiscard]] Vector predict(const Matrix& features, const BinnedRows& rows) const;
};

/// The process's features as the hints name them; names that are not features are left out.
[[nodiscard]] std::vector<GpFeature> process_features(const Featurizer& featurizer);

}  // namespace roofcal
