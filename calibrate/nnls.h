// Non-negative least squares.
#pragma once

#include <Eigen/Core>

namespace roofcal {

/// The x >= 0 that minimises |A x - b|^2, given `gram` = A^T A and `moment` = A^T b. Active-set method of Lawson and
/// Hanson, "Solving Least Squares Problems" (1974), ch. 23, on the normal equations (Bro and de Jong, J. Chemometrics
/// 11, 1997). Precondition: `gram` symmetric positive definite (add a ridge); `moment` of matching size.
[[nodiscard]] Eigen::VectorXd nnls(const Eigen::MatrixXd& gram, const Eigen::VectorXd& moment);

}  // namespace roofcal
