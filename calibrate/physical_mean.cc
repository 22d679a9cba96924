#include "calibrate/physical_mean.h"

#include <cmath>

#include "calibrate/nnls.h"

namespace roofcal {
namespace {

constexpr double kRidge = 1e-4;
constexpr int kRounds = 3;
constexpr double kFloorOfLogError = 0.05;

}  // namespace

Vector fit_physical_mean(const Matrix& columns, const Vector& times) {
  const auto rows = static_cast<double>(columns.rows());
  Matrix scaled = columns.array().colwise() / times.array();
  const Eigen::RowVectorXd rms = (scaled.colwise().squaredNorm() / rows).cwiseSqrt();
  // A column that is zero throughout (a term that this class never pays) keeps weight zero.
  const Eigen::RowVectorXd scale = (rms.array() > 0.0).select(rms.cwiseInverse(), 0.0);
  scaled = scaled.array().rowwise() * scale.array();

  Vector row_weight = Vector::Ones(columns.rows());
  Vector x;
  for (int round = 0; round <= kRounds; ++round) {
    const Matrix weighted = scaled.array().colwise() * row_weight.array();
    Eigen::MatrixXd gram = scaled.transpose() * weighted;
    gram.diagonal().array() += kRidge * rows;
    x = nnls(gram, weighted.colwise().sum().transpose());
    const Eigen::ArrayXd log_error = (scaled * x).array().max(1e-6).log().abs();
    row_weight = log_error.max(kFloorOfLogError).inverse();
    row_weight /= row_weight.mean();
  }
  return x.cwiseProduct(scale.transpose());
}

}  // namespace roofcal
