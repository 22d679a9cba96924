#include "calibrate/gp_objective.h"

#include <Eigen/Cholesky>
#include <limits>
#include <utility>

namespace roofcal {

GpObjective::GpObjective(const Matrix& inputs, const Vector& targets, GpPriors priors)
    : inputs_(inputs), targets_(targets), priors_(std::move(priors)) {}

double GpObjective::evaluate(const Vector& theta, Vector& gradient) const {
  const Eigen::Index count = inputs_.rows();
  const Eigen::Index dimensions = inputs_.cols();
  const double signal = std::exp(theta[dimensions]);
  const double own_noise = std::exp(theta[dimensions + 1]);
  const double noise = own_noise + priors_.noise_floor;
  gradient = Vector::Zero(size());

  Eigen::MatrixXd scaled = inputs_;
  for (Eigen::Index d = 0; d < dimensions; ++d) {
    scaled.col(d) *= std::sqrt(3.0) * std::exp(-theta[d]);
  }
  // Lower triangle only: K and exp(-r), which the derivatives share.
  Eigen::MatrixXd kernel(count, count);
  Eigen::MatrixXd decay(count, count);
  for (Eigen::Index j = 0; j < count; ++j) {
    const Eigen::Index below = count - j;
    Eigen::ArrayXd squared = Eigen::ArrayXd::Zero(below);
    for (Eigen::Index d = 0; d < dimensions; ++d) {
      squared += (scaled.col(d).tail(below).array() - scaled(j, d)).square();
    }
    const Eigen::ArrayXd r = squared.sqrt();
    decay.col(j).tail(below) = (-r).exp();
    kernel.col(j).tail(below) = signal * (1.0 + r) * decay.col(j).tail(below).array();
    kernel(j, j) += noise;
  }
  const Eigen::LLT<Eigen::MatrixXd, Eigen::Lower> factor(kernel);
  if (factor.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
  const Vector alpha = factor.solve(targets_);
  double value = 0.5 * targets_.dot(alpha) + factor.matrixLLT().diagonal().array().log().sum();

  // d value / d K = (K^-1 - alpha alpha^T) / 2; off-diagonal entries count twice.
  Eigen::MatrixXd slope = factor.solve(Eigen::MatrixXd::Identity(count, count));
  slope.noalias() -= alpha * alpha.transpose();
  double noise_slope = 0.0;
  double signal_slope = 0.0;
  for (Eigen::Index j = 0; j < count; ++j) {
    noise_slope += 0.5 * slope(j, j);
    signal_slope += 0.5 * slope(j, j) * (kernel(j, j) - noise);
    const Eigen::Index below = count - j - 1;
    if (below == 0) continue;
    const auto off_diagonal = slope.col(j).tail(below).array();
    signal_slope += (off_diagonal * kernel.col(j).tail(below).array()).sum();
    // dk / d ln l_d = s exp(-r) (scaled difference)^2
    const Eigen::ArrayXd common = signal * off_diagonal * decay.col(j).tail(below).array();
    for (Eigen::Index d = 0; d < dimensions; ++d) {
      gradient[d] += (common * (scaled.col(d).tail(below).array() - scaled(j, d)).square()).sum();
    }
  }
  gradient[dimensions] = signal_slope;
  gradient[dimensions + 1] = noise_slope * own_noise;

  const auto add_prior = [&](Eigen::Index i, double mean, double sd) {
    const double deviation = (theta[i] - mean) / sd;
    value += 0.5 * deviation * deviation;
    gradient[i] += deviation / sd;
  };
  for (Eigen::Index d = 0; d < dimensions; ++d) {
    add_prior(d, priors_.log_length_mean[static_cast<std::size_t>(d)], priors_.log_length_sd);
  }
  add_prior(dimensions, priors_.log_signal_mean, priors_.log_signal_sd);
  add_prior(dimensions + 1, priors_.log_noise_mean, priors_.log_noise_sd);
  return value;
}

}  // namespace roofcal
