// A frozen Gaussian process: the posterior mean only, k(x) . alpha over its support points. No matrix is kept.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "calibrate/matrix.h"

namespace roofcal {

/// One feature of the process: its column among all features, and the prior's centre of ln(length scale).
struct GpFeature {
  std::size_t column = 0;
  double log_length_mean = 0.405;
};

struct GpOptions {
  double log_length_sd = 0.5;
  std::size_t subset = 300;  ///< points that the hyper-parameters are fitted on; all points make the posterior
  int iterations = 60;
  std::uint64_t seed = 1;
};

/// Kernel and prior as in gp_objective.h. Inputs are standardised and rounded to 1/2048 of a standard deviation.
class GaussianProcess {
 public:
  GaussianProcess() = default;
  /// `features`: all features of all points, of which `chosen` are used. Precondition: at least 2 points.
  [[nodiscard]] static GaussianProcess fit(const Matrix& features, const Vector& targets,
                                           std::span<const GpFeature> chosen, const GpOptions& options);
  /// The posterior of other points under this process's standardisation and hyper-parameters. `extra_noise`: variance
  /// of each point beside the common one; none when empty.
  [[nodiscard]] GaussianProcess refit(const Matrix& features, const Vector& targets, const Vector& extra_noise) const;

  [[nodiscard]] bool empty() const { return alpha_.empty(); }
  /// Variance of the noise.
  [[nodiscard]] double noise() const { return noise_; }
  /// The posterior mean at one point; `features`: all features of the point.
  [[nodiscard]] double predict(std::span<const float> features) const;

  [[nodiscard]] nlohmann::json to_json() const;
  /// Throws as json_reading.h says. `columns`: how many features there are.
  [[nodiscard]] static GaussianProcess from_json(const nlohmann::json& json, std::size_t columns);

 private:
  [[nodiscard]] Matrix standardised(const Matrix& features) const;
  void condition(const Matrix& inputs, const Vector& targets, const Vector& extra_noise);
  void build_lanes();

  std::vector<std::size_t> columns_;
  std::vector<double> mean_, deviation_, length_;
  double signal_ = 1.0, noise_ = 1.0;
  std::vector<std::int32_t> support_;  // points x dimensions, in units of 1/2048
  std::vector<double> alpha_;
  // Derived: support points in blocks of 8, scaled by the length scales, dimension by dimension; alpha times signal.
  std::vector<float> lanes_;
  std::vector<float> lane_alpha_;
  std::vector<float> shift_, scale_;  // feature -> scaled input
};

}  // namespace roofcal
