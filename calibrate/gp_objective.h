// What the hyper-parameters of the Gaussian process minimise.
#pragma once

#include <cmath>
#include <vector>

#include "calibrate/matrix.h"

namespace roofcal {

/// Normal priors on the logarithms of the hyper-parameters.
struct GpPriors {
  std::vector<double> log_length_mean;  ///< one a feature
  double log_length_sd = 1.0;
  double log_signal_mean = 0.0;
  double log_signal_sd = 1.5;
  double log_noise_mean = -8.517;  ///< ln 2e-4: variance of the noise
  double log_noise_sd = 2.0;
  double noise_floor = 2.5e-5;  ///< variance that is always there: 0.5 %
};

/// Negative log posterior of a zero-mean Gaussian process with a Matern-3/2 kernel and one length scale a dimension
/// (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, eq. 2.30, 4.17, 5.9):
///   k(x, y) = s (1 + r) exp(-r),  r^2 = 3 sum_d ((x_d - y_d) / l_d)^2.
/// Hyper-parameters theta: ln l_1 .. ln l_D, ln s, ln of the noise variance above the floor.
class GpObjective {
 public:
  /// `inputs`: standardised, one row a point.
  GpObjective(const Matrix& inputs, const Vector& targets, GpPriors priors);

  [[nodiscard]] Eigen::Index size() const { return inputs_.cols() + 2; }
  /// The value; fills `gradient`. A kernel matrix that is not positive definite gives infinity and a zero gradient.
  double evaluate(const Vector& theta, Vector& gradient) const;

 private:
  Eigen::MatrixXd inputs_;
  Vector targets_;
  GpPriors priors_;
};

}  // namespace roofcal
