// How far off a model of one class is expected to be, and what measuring one more shape would change about it. No times
// are needed: the variance of a Gaussian process depends on nothing but where its points lie.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/matrix.h"

namespace roofcal {

/// What is known about log time beyond the physical mean before anything is measured: a zero-mean Gaussian process with
/// a Matern-3/2 kernel (gp_objective.h) over standardised features.
struct ErrorPrior {
  std::vector<std::size_t> columns;  ///< of all features
  std::vector<double> lengths;       ///< one a column, in standard deviations of the targets
  double signal = 0.15 * 0.15;       ///< variance of log time
  double noise = 0.02 * 0.02;        ///< variance that no measurement takes away: what is not smooth
};

/// One row a shape, all features of it.
struct PlanFeatures {
  Matrix measured;
  Matrix candidates;
  Matrix targets;  ///< the shapes that matter
};

/// Greedy reduction of the mean error over the targets, after Cohn's active learning (Seo, Wallat, Graepel, Obermayer,
/// Gaussian Process Regression: Active Data Selection and Test Point Rejection, IJCNN 2000), with absolute instead of
/// squared errors.
class ExpectedError {
 public:
  /// `weights`: of the targets, summing to 1. Precondition: at least one target.
  ExpectedError(const PlanFeatures& features, const Vector& weights, const ErrorPrior& prior);

  /// Weighted mean of |log error| over the targets.
  [[nodiscard]] double expected() const;
  /// By how much measuring the candidate would lower expected().
  [[nodiscard]] double gain(std::size_t candidate) const;
  void measure(std::span<const std::size_t> candidates);

 private:
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  // Given what is measured, `added` is too: `explains` of the candidates and `of_targets` are their covariances with
  // it, `own` its covariance matrix with noise.
  void condition(Rows explains, Rows of_targets, const Eigen::MatrixXf& own);

  float signal_, noise_;
  Rows places_;     // candidates, scaled so that the kernel's distance is Euclidean
  Rows between_;    // covariance of candidates (rows) and targets, given what is measured
  Rows explained_;  // candidates x measured: whitened, so that products of rows are what the measured explain
  Eigen::Index count_ = 0;
  Eigen::VectorXf candidate_variance_, target_variance_, weights_;
};

}  // namespace roofcal
