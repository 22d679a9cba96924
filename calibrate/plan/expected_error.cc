#include "calibrate/plan/expected_error.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace roofcal {
namespace {

constexpr double kSmallestDeviation = 1e-6;
// E|x| of a normal x with variance 1.
const double kMeanOfHalfNormal = std::sqrt(2.0 / std::numbers::pi);

// Matern-3/2 of all pairs of rows.
template <class Rows>
Rows kernel(const Rows& a, const Rows& b, float signal) {
  Rows squared = -2.0F * (a * b.transpose());
  squared.colwise() += a.rowwise().squaredNorm();
  squared.rowwise() += b.rowwise().squaredNorm().transpose();
  const Eigen::ArrayXXf r = squared.array().max(0.0F).sqrt();
  return (signal * (1.0F + r) * (-r).exp()).matrix();
}

}  // namespace

ExpectedError::ExpectedError(const PlanFeatures& features, const Vector& weights, const ErrorPrior& prior)
    : signal_(static_cast<float>(prior.signal)),
      noise_(static_cast<float>(prior.noise)),
      weights_(weights.cast<float>()) {
  const auto columns = static_cast<Eigen::Index>(prior.columns.size());
  places_.resize(features.candidates.rows(), columns);
  Rows measured(features.measured.rows(), columns);
  Rows targets(features.targets.rows(), columns);
  for (Eigen::Index d = 0; d < columns; ++d) {
    const auto column = static_cast<Eigen::Index>(prior.columns[static_cast<std::size_t>(d)]);
    const Vector all = features.targets.col(column);
    const double mean = all.mean();
    const double deviation = std::sqrt((all.array() - mean).square().mean());
    // Where the targets do not differ there is nothing to tell apart.
    const double scale = deviation < kSmallestDeviation
                             ? 0.0
                             : std::sqrt(3.0) / (deviation * prior.lengths[static_cast<std::size_t>(d)]);
    const auto scaled = [&](const Matrix& rows) { return ((rows.col(column).array() - mean) * scale).cast<float>(); };
    places_.col(d) = scaled(features.candidates);
    measured.col(d) = scaled(features.measured);
    targets.col(d) = scaled(features.targets);
  }
  between_ = kernel(places_, targets, signal_);
  candidate_variance_ = Eigen::VectorXf::Constant(places_.rows(), signal_);
  target_variance_ = Eigen::VectorXf::Constant(targets.rows(), signal_);
  if (measured.rows() == 0) return;
  condition(kernel(places_, measured, signal_), kernel(targets, measured, signal_),
            kernel(measured, measured, signal_));
}

void ExpectedError::condition(Rows explains, Rows of_targets, const Eigen::MatrixXf& own) {
  const Eigen::Index added = own.rows();
  Eigen::MatrixXf noisy = own;
  // A little beside the noise, so that shapes which look alike to the features do no harm in single precision.
  noisy.diagonal().array() += noise_ + 1e-5F * signal_;
  const Eigen::LLT<Eigen::MatrixXf> factor(noisy);
  factor.matrixU().solveInPlace<Eigen::OnTheRight>(explains);
  factor.matrixU().solveInPlace<Eigen::OnTheRight>(of_targets);
  if (count_ + added > explained_.cols()) {
    explained_.conservativeResize(places_.rows(), std::max(count_ + added, 2 * explained_.cols()));
  }
  explained_.middleCols(count_, added) = explains;
  count_ += added;
  between_.noalias() -= explains * of_targets.transpose();
  candidate_variance_ = (candidate_variance_ - explains.rowwise().squaredNorm()).cwiseMax(0.0F);
  target_variance_ = (target_variance_ - of_targets.rowwise().squaredNorm()).cwiseMax(0.0F);
}

double ExpectedError::expected() const {
  return kMeanOfHalfNormal * static_cast<double>(weights_.dot((target_variance_.array() + noise_).sqrt().matrix()));
}

double ExpectedError::gain(std::size_t candidate) const {
  const auto at = static_cast<Eigen::Index>(candidate);
  const Eigen::ArrayXf now = target_variance_.array() + noise_;
  const Eigen::ArrayXf less = (between_.row(at).transpose().array().square() / (candidate_variance_[at] + noise_))
                                  .min(target_variance_.array());
  // sqrt(now) - sqrt(now - less), without the loss of digits.
  return kMeanOfHalfNormal * static_cast<double>(weights_.dot((less / (now.sqrt() + (now - less).sqrt())).matrix()));
}

void ExpectedError::measure(std::span<const std::size_t> candidates) {
  if (candidates.empty()) return;
  const std::vector<Eigen::Index> rows(candidates.begin(), candidates.end());
  const Rows here = places_(rows, Eigen::all);
  const Rows known = explained_(rows, Eigen::seqN(0, count_));
  Rows explains = kernel(places_, here, signal_);
  explains.noalias() -= explained_.leftCols(count_) * known.transpose();
  Rows of_targets = between_(rows, Eigen::all).transpose();
  const Eigen::MatrixXf own = explains(rows, Eigen::all);
  condition(std::move(explains), std::move(of_targets), own);
}

}  // namespace roofcal
