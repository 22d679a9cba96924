#include "calibrate/gaussian_process.h"

#include <lbfgs.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "calibrate/gp_objective.h"
#include "calibrate/json_reading.h"
#include "calibrate/packed_text.h"
#include "calibrate/random.h"

namespace roofcal {
namespace {

constexpr double kUnit = 2048.0;         // inputs are whole multiples of 1 / kUnit
constexpr double kLargestInput = 255.0;  // standard deviations: far beyond any, keeps packed numbers short
constexpr double kSmallestDeviation = 1e-6;
constexpr double kInitialNoise = 1e-3;
constexpr std::size_t kLane = 8;

// Length scales and variances beyond these mean nothing; the walls keep the line search in finite numbers.
constexpr double kLargestLog = 7.0;

// liblbfgs's C callback.
lbfgsfloatval_t evaluate(void* objective, const lbfgsfloatval_t* x, lbfgsfloatval_t* g, const int n,
                         const lbfgsfloatval_t /*step*/) {
  Vector gradient;
  Vector theta = Eigen::Map<const Vector>(x, n);
  double wall = 0.0;
  Vector push = Vector::Zero(n);
  for (int i = 0; i < n; ++i) {
    const double bound = i < n - 2 ? kLargestLog : 2.0 * kLargestLog;
    const double beyond = std::abs(theta[i]) - bound;
    if (beyond > 0.0) {
      wall += beyond * beyond;
      push[i] = std::copysign(2.0 * beyond, theta[i]);
      theta[i] = std::copysign(bound, theta[i]);
    }
  }
  double value = static_cast<const GpObjective*>(objective)->evaluate(theta, gradient);
  if (!std::isfinite(value)) {
    value = 1e10;
    gradient.setZero();
  }
  gradient += push;
  std::copy(gradient.data(), gradient.data() + n, g);
  return value + wall;
}

Vector minimise(const GpObjective& objective, Vector theta, int iterations) {
  lbfgs_parameter_t parameters;
  lbfgs_parameter_init(&parameters);
  parameters.max_iterations = iterations;
  parameters.epsilon = 1e-4;
  parameters.past = 3;
  parameters.delta = 1e-5;
  parameters.max_linesearch = 20;
  const auto size = static_cast<int>(theta.size());
  const std::unique_ptr<lbfgsfloatval_t, void (*)(lbfgsfloatval_t*)> x(lbfgs_malloc(size), &lbfgs_free);
  std::copy(theta.data(), theta.data() + size, x.get());
  // Whatever stops it (convergence, the iteration limit, a line search at the limit of precision), x holds the best
  // point of the last finished line search.
  lbfgs(size, x.get(), nullptr, &evaluate, nullptr, const_cast<GpObjective*>(&objective), &parameters);
  std::copy(x.get(), x.get() + size, theta.data());
  for (int i = 0; i < size; ++i) {
    const double bound = i < size - 2 ? kLargestLog : 2.0 * kLargestLog;
    theta[i] = std::clamp(theta[i], -bound, bound);
  }
  return theta;
}

// Eight lanes: two registers on the baseline instruction set, one with AVX2.
using Floats [[gnu::vector_size(32)]] = float;
using Ints [[gnu::vector_size(32)]] = std::int32_t;

}  // namespace

Matrix GaussianProcess::standardised(const Matrix& features) const {
  Matrix inputs(features.rows(), static_cast<Eigen::Index>(columns_.size()));
  for (std::size_t d = 0; d < columns_.size(); ++d) {
    inputs.col(static_cast<Eigen::Index>(d)) =
        ((features.col(static_cast<Eigen::Index>(columns_[d])).array() - mean_[d]) / deviation_[d])
            .max(-kLargestInput)
            .min(kLargestInput);
  }
  return (inputs.array() * kUnit).round() / kUnit;
}

GaussianProcess GaussianProcess::fit(const Matrix& features, const Vector& targets, std::span<const GpFeature> chosen,
                                     const GpOptions& options) {
  GaussianProcess process;
  GpPriors priors;
  priors.log_length_sd = options.log_length_sd;
  for (const GpFeature& feature : chosen) {
    const Vector column = features.col(static_cast<Eigen::Index>(feature.column));
    const double mean = column.mean();
    const double deviation = std::sqrt((column.array() - mean).square().mean());
    if (deviation < kSmallestDeviation) continue;  // the same everywhere: tells nothing
    process.columns_.push_back(feature.column);
    process.mean_.push_back(mean);
    process.deviation_.push_back(deviation);
    priors.log_length_mean.push_back(feature.log_length_mean);
  }
  const Matrix inputs = process.standardised(features);

  std::vector<std::size_t> order(static_cast<std::size_t>(inputs.rows()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(options.seed);
  random.shuffle(order);
  order.resize(std::min(order.size(), options.subset));
  priors.log_signal_mean = std::log(targets.squaredNorm() / static_cast<double>(targets.size()) + 1e-6);
  const GpObjective objective(inputs(order, Eigen::all), targets(order), priors);

  const auto dimensions = static_cast<Eigen::Index>(process.columns_.size());
  Vector theta(dimensions + 2);
  std::copy(priors.log_length_mean.begin(), priors.log_length_mean.end(), theta.data());
  theta[dimensions] = priors.log_signal_mean;
  theta[dimensions + 1] = std::log(kInitialNoise);
  theta = minimise(objective, theta, options.iterations);

  for (Eigen::Index d = 0; d < dimensions; ++d) {
    process.length_.push_back(std::exp(theta[d]));
  }
  process.signal_ = std::exp(theta[dimensions]);
  process.noise_ = std::exp(theta[dimensions + 1]) + priors.noise_floor;
  process.condition(inputs, targets, Vector());
  return process;
}

GaussianProcess GaussianProcess::refit(const Matrix& features, const Vector& targets, const Vector& extra_noise) const {
  GaussianProcess other = *this;
  other.condition(other.standardised(features), targets, extra_noise);
  return other;
}

void GaussianProcess::condition(const Matrix& inputs, const Vector& targets, const Vector& extra_noise) {
  const Eigen::Index count = inputs.rows();
  Eigen::MatrixXd scaled = inputs;
  for (Eigen::Index d = 0; d < scaled.cols(); ++d) {
    scaled.col(d) *= std::sqrt(3.0) / length_[static_cast<std::size_t>(d)];
  }
  Eigen::MatrixXd kernel(count, count);
  for (Eigen::Index j = 0; j < count; ++j) {
    const Eigen::Index below = count - j;
    Eigen::ArrayXd squared = Eigen::ArrayXd::Zero(below);
    for (Eigen::Index d = 0; d < scaled.cols(); ++d) {
      squared += (scaled.col(d).tail(below).array() - scaled(j, d)).square();
    }
    const Eigen::ArrayXd r = squared.sqrt();
    kernel.col(j).tail(below) = signal_ * (1.0 + r) * (-r).exp();
    kernel(j, j) += noise_ + 1e-8 + (extra_noise.size() > 0 ? extra_noise[j] : 0.0);
  }
  const Vector alpha = kernel.llt().solve(targets);
  alpha_.assign(alpha.data(), alpha.data() + count);
  support_.clear();
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index d = 0; d < inputs.cols(); ++d) {
      support_.push_back(static_cast<std::int32_t>(std::lround(inputs(i, d) * kUnit)));
    }
  }
  build_lanes();
}

void GaussianProcess::build_lanes() {
  const std::size_t dimensions = columns_.size();
  const std::size_t points = alpha_.size();
  const std::size_t blocks = (points + kLane - 1) / kLane;
  lanes_.assign(blocks * dimensions * kLane, 0.0F);
  lane_alpha_.assign(blocks * kLane, 0.0F);
  shift_.clear();
  scale_.clear();
  for (std::size_t d = 0; d < dimensions; ++d) {
    const double scale = std::sqrt(3.0) / length_[d];
    shift_.push_back(static_cast<float>(mean_[d]));
    scale_.push_back(static_cast<float>(scale / deviation_[d]));
    for (std::size_t i = 0; i < points; ++i) {
      lanes_[(i / kLane * dimensions + d) * kLane + i % kLane] =
          static_cast<float>(scale * support_[i * dimensions + d] / kUnit);
    }
  }
  for (std::size_t i = 0; i < points; ++i) {
    lane_alpha_[i] = static_cast<float>(alpha_[i] * signal_);
  }
}

namespace {

// sum over support points of alpha (1 + r) exp(-r). Lanes add up separately and in order, so that the baseline and the
// AVX2 version of this function give the same bits.
[[gnu::target_clones("avx2", "default")]] double support_sum(const float* lanes, const float* alpha, std::size_t blocks,
                                                             const float* input, std::size_t dimensions) {
  Floats total = {};
  for (std::size_t block = 0; block < blocks; ++block) {
    Floats squared = {};
    for (std::size_t d = 0; d < dimensions; ++d) {
      Floats point;
      std::memcpy(&point, lanes, sizeof point);
      lanes += kLane;
      const Floats difference = point - input[d];
      squared += difference * difference;
    }
    Floats r;
    for (std::size_t i = 0; i < kLane; ++i) {
      r[i] = std::sqrt(squared[i]);
    }
    // exp(-r) = 2^-n 2^-f with n whole and f in [0, 1), the latter by a Taylor polynomial about 1/2. Beyond r = 80 the
    // kernel is nothing.
    Floats bits = r * 1.442695041F;
    bits = bits > 115.0F ? Floats{} + 115.0F : bits;
    const Ints whole = __builtin_convertvector(bits, Ints);
    const Floats x = (0.5F - (bits - __builtin_convertvector(whole, Floats))) * 0.6931471806F;
    const Floats power =
        1.0F +
        x * (1.0F + x * (0.5F + x * (0.16666667F + x * (0.041666668F + x * (0.0083333338F + x * 0.0013888889F)))));
    const Ints exponent = (127 - whole) << 23;
    Floats scale;
    std::memcpy(&scale, &exponent, sizeof scale);
    Floats weight;
    std::memcpy(&weight, alpha, sizeof weight);
    alpha += kLane;
    total += weight * (1.0F + r) * (power * 0.70710678F) * scale;
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < kLane; ++i) {
    sum += static_cast<double>(total[i]);
  }
  return sum;
}

}  // namespace

double GaussianProcess::predict(std::span<const float> features) const {
  constexpr std::size_t kMostFeatures = 64;
  std::array<float, kMostFeatures> input{};
  for (std::size_t d = 0; d < columns_.size(); ++d) {
    input[d] = (features[columns_[d]] - shift_[d]) * scale_[d];
  }
  return support_sum(lanes_.data(), lane_alpha_.data(), lane_alpha_.size() / kLane, input.data(), columns_.size());
}

nlohmann::json GaussianProcess::to_json() const {
  std::vector<std::uint32_t> packed;
  packed.reserve(support_.size());
  for (const std::int32_t value : support_) {
    packed.push_back(zigzag(value));
  }
  return {{"columns", columns_}, {"mean", mean_},   {"deviation", deviation_},         {"length", length_},
          {"signal", signal_},   {"noise", noise_}, {"support", pack_text(packed, 4)}, {"alpha", alpha_}};
}

GaussianProcess GaussianProcess::from_json(const nlohmann::json& json, std::size_t columns) {
  GaussianProcess process;
  for (const double column : read_numbers(json, "columns")) {
    require(column >= 0 && column < static_cast<double>(columns),
            "a Gaussian process over a feature that is not there");
    process.columns_.push_back(static_cast<std::size_t>(column));
  }
  const auto dimensions = static_cast<std::int64_t>(process.columns_.size());
  process.mean_ = read_numbers(json, "mean", dimensions);
  process.deviation_ = read_numbers(json, "deviation", dimensions);
  process.length_ = read_numbers(json, "length", dimensions);
  for (std::size_t d = 0; d < process.columns_.size(); ++d) {
    require(process.deviation_[d] > 0.0 && process.length_[d] > 0.0, "a scale of the Gaussian process is not positive");
  }
  process.signal_ = read_number(json, "signal", 0.0, 1e9);
  process.noise_ = read_number(json, "noise", 0.0, 1e9);
  process.alpha_ = read_numbers(json, "alpha");
  for (const std::uint32_t value :
       unpack_text(read_string(json, "support"), process.alpha_.size() * process.columns_.size(), 4)) {
    process.support_.push_back(unzigzag(value));
  }
  process.build_lanes();
  return process;
}

}  // namespace roofcal
