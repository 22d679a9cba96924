// What the physical mean leaves over: log(t / X w), learned by a Gaussian process and boosted trees.
#pragma once

#include <cstdint>
#include <vector>

#include "calibrate/feature_bins.h"
#include "calibrate/featurizer.h"
#include "calibrate/gaussian_process.h"
#include "calibrate/matrix.h"
#include "calibrate/tree_training.h"

namespace roofcal {

/// How the residual is learned, by the number of points: weights alone below 50; process and trees blended while the
/// process's matrix is small; trees alone beyond. Points that a first, held-out fit missed by far count less in the
/// final one.
struct ResidualPlan {
  bool process = false;
  bool trees = false;
  double process_share = 0.0;
  std::size_t folds = 5;
  std::size_t bins = FeatureBins::kMaxBins;  ///< of a feature
  /// Weights of a leaf to try beside the options', where noise may ask for larger leaves; one fold chooses.
  std::vector<double> min_child_weights;
  TreeOptions final_trees;  ///< of the model itself
  TreeOptions fold_trees;   ///< of the folds: smaller where that tells the error as well
  TreeOptions first_trees;  ///< without process: of the halves that tell the weights of points
};
[[nodiscard]] ResidualPlan plan_residual(std::size_t points, bool compact, std::uint64_t seed);

/// The process's mean at each row of all features.
[[nodiscard]] Vector predict_rows(const GaussianProcess& process, const Matrix& features);

/// The process's features as the hints name them; names that are not features are left out.
[[nodiscard]] std::vector<GpFeature> process_features(const Featurizer& featurizer);

}  // namespace roofcal
