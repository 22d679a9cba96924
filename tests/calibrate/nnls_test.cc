#include "calibrate/nnls.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "calibrate/physical_mean.h"
#include "calibrate/random.h"

namespace roofcal {
namespace {

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  Random random(seed);
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return random.uniform() - 0.3; });
}

TEST(Nnls, IsLeastSquaresWhereThatIsPositive) {
  const Eigen::MatrixXd a = random_matrix(20, 3, 1);
  const Eigen::VectorXd truth = Eigen::Vector3d(0.5, 2.0, 1.0);
  const Eigen::VectorXd x = nnls(a.transpose() * a, a.transpose() * (a * truth));
  EXPECT_LT((x - truth).norm(), 1e-10);
}

TEST(Nnls, ClampsTheTextbookCase) {
  // min (x - y - 1)^2 + (y + 1)^2: free minimum (0, -1); with y >= 0 it is (1, 0).
  Eigen::MatrixXd a(2, 2);
  a << 1, -1, 0, 1;
  const Eigen::Vector2d b(1, -1);
  const Eigen::VectorXd x = nnls(a.transpose() * a, a.transpose() * b);
  EXPECT_NEAR(x[0], 1.0, 1e-12);
  EXPECT_EQ(x[1], 0.0);
}

TEST(Nnls, MeetsTheKuhnTuckerConditions) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Eigen::MatrixXd a = random_matrix(40, 12, seed);
    const Eigen::VectorXd b = random_matrix(40, 1, seed + 1000);
    const Eigen::MatrixXd gram = a.transpose() * a + 1e-6 * Eigen::MatrixXd::Identity(12, 12);
    const Eigen::VectorXd moment = a.transpose() * b;
    const Eigen::VectorXd x = nnls(gram, moment);
    const Eigen::VectorXd slope = gram * x - moment;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      EXPECT_GE(x[i], 0.0);
      if (x[i] > 0.0) {
        EXPECT_NEAR(slope[i], 0.0, 1e-8) << "seed " << seed;
      } else {
        EXPECT_GE(slope[i], -1e-8) << "seed " << seed;
      }
    }
  }
}

TEST(PhysicalMean, FindsTheWeightsThatMadeTheTimes) {
  Random random(3);
  Matrix columns(200, 4);
  Vector times(200);
  for (Eigen::Index row = 0; row < 200; ++row) {
    const double size = std::exp(8.0 * random.uniform());
    columns.row(row) << 1.0, 1e-6 * size, 3e-7 * size * random.uniform(), 0.0;
    times[row] = 2e-6 + 1.5 * columns(row, 1);
  }
  const Vector weights = fit_physical_mean(columns, times);
  EXPECT_NEAR(weights[0] / 2e-6, 1.0, 0.01);
  EXPECT_NEAR(weights[1], 1.5, 0.02);
  EXPECT_NEAR(weights[2], 0.0, 0.05);
  EXPECT_EQ(weights[3], 0.0);  // a column that is never paid
}

}  // namespace
}  // namespace roofcal
