// The dense types that fitting works on.
#pragma once

#include <Eigen/Core>

namespace roofcal {

/// One row a sample.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

}  // namespace roofcal
