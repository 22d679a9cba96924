#include "calibrate/residual.h"

#include <algorithm>
#include <cmath>

namespace roofcal {
namespace {

constexpr std::size_t kFewestForResidual = 50;
constexpr std::size_t kFewestForTrees = 100;
// Conditioning the process costs the cube of its points, evaluating it their number.
constexpr std::size_t kMostForProcess = 2000;
constexpr std::size_t kMostForCompactProcess = 1000;
// Histograms are what training large trees costs; twice as many bins gain nothing (three classes of 23,000 points).
constexpr std::size_t kBinsOfManyPoints = 127;
constexpr double kProcessShare = 0.5;
const double kDefaultLogLength = std::log(1.5);

}  // namespace

ResidualPlan plan_residual(std::size_t points, bool compact, std::uint64_t seed) {
  ResidualPlan plan;
  if (points < kFewestForResidual) return plan;
  plan.process = points <= (compact ? kMostForCompactProcess : kMostForProcess);
  plan.trees = points >= kFewestForTrees;
  plan.process_share = plan.process ? (plan.trees ? kProcessShare : 1.0) : 0.0;
  TreeOptions& trees = plan.final_trees;
  trees.seed = seed;
  if (plan.process) {
    trees.rounds = 500;
    trees.max_depth = 6;
    trees.eta = 0.04;
    trees.subsample = 0.7;
    trees.colsample_bytree = 0.5;
    trees.min_child_weight = 1.0;
    trees.lambda = 1.0;
    plan.fold_trees = trees;
    plan.fold_trees.rounds = 250;
    plan.fold_trees.eta = 0.08;
    return plan;
  }
  plan.folds = 4;
  plan.bins = kBinsOfManyPoints;
  plan.min_child_weights = {20.0};
  trees.rounds = 200;
  trees.max_depth = 14;
  trees.max_leaves = 256;
  trees.eta = 0.1;
  trees.subsample = 0.8;
  trees.colsample_bytree = 1.0;
  trees.colsample_bynode = 0.5;
  trees.min_child_weight = 2.0;
  trees.lambda = 0.1;
  trees.leaf_step = compact ? 2e-4 : 2e-5;
  plan.fold_trees = trees;
  plan.fold_trees.rounds = 80;
  plan.fold_trees.max_depth = 10;
  plan.fold_trees.max_leaves = 128;
  plan.fold_trees.eta = 0.15;
  plan.first_trees = plan.fold_trees;
  plan.first_trees.rounds = 30;
  plan.first_trees.max_leaves = 64;
  plan.first_trees.eta = 0.3;
  return plan;
}

Vector predict_rows(const GaussianProcess& process, const Matrix& features) {
  Vector means(features.rows());
  std::vector<float> row(static_cast<std::size_t>(features.cols()));
  for (Eigen::Index i = 0; i < features.rows(); ++i) {
    std::transform(features.row(i).data(), features.row(i).data() + features.cols(), row.begin(),
                   [](double value) { return static_cast<float>(value); });
    means[i] = process.predict(row);
  }
  return means;
}

std::vector<GpFeature> process_features(const Featurizer& featurizer) {
  const auto names = featurizer.feature_names();
  const FitHints hints = featurizer.hints();
  std::vector<GpFeature> chosen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto hint = std::ranges::find(hints.smooth, names[i], &FitHints::Length::feature);
    if (hint != hints.smooth.end()) chosen.push_back({i, hint->log_length});
    if (hints.smooth.empty()) chosen.push_back({i, kDefaultLogLength});
  }
  return chosen;
}

}  // namespace roofcal
