#include "calibrate/nnls.h"

#include <Eigen/Cholesky>
#include <limits>
#include <vector>

namespace roofcal {
namespace {

// The unconstrained minimum over the columns in `passive`; zero elsewhere.
Eigen::VectorXd solve_passive(const Eigen::MatrixXd& gram, const Eigen::VectorXd& moment,
                              const std::vector<Eigen::Index>& passive) {
  const Eigen::VectorXd part = gram(passive, passive).llt().solve(moment(passive));
  Eigen::VectorXd all = Eigen::VectorXd::Zero(moment.size());
  all(passive) = part;
  return all;
}

}  // namespace

Eigen::VectorXd nnls(const Eigen::MatrixXd& gram, const Eigen::VectorXd& moment) {
  const Eigen::Index size = moment.size();
  const double tolerance = 1e-11 * moment.cwiseAbs().maxCoeff();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(size);
  std::vector<Eigen::Index> passive;
  std::vector<bool> is_passive(static_cast<std::size_t>(size), false);

  // Lawson and Hanson prove termination; the cap guards against cycling by rounding.
  for (Eigen::Index round = 0; round < 10 * size; ++round) {
    const Eigen::VectorXd descent = moment - gram * x;
    Eigen::Index enter = -1;
    double steepest = tolerance;
    for (Eigen::Index j = 0; j < size; ++j) {
      if (!is_passive[static_cast<std::size_t>(j)] && descent[j] > steepest) {
        steepest = descent[j];
        enter = j;
      }
    }
    if (enter < 0) break;
    passive.push_back(enter);
    is_passive[static_cast<std::size_t>(enter)] = true;

    Eigen::VectorXd trial = solve_passive(gram, moment, passive);
    while (!passive.empty() && trial(passive).minCoeff() <= 0.0) {
      // Walk from x towards the trial until the first column hits zero, and release it.
      double step = std::numeric_limits<double>::infinity();
      for (const Eigen::Index j : passive) {
        if (trial[j] <= 0.0) step = std::min(step, x[j] / (x[j] - trial[j]));
      }
      x += step * (trial - x);
      std::erase_if(passive, [&](Eigen::Index j) {
        const bool leaves = trial[j] <= 0.0 && x[j] <= 1e-14 * x.maxCoeff();
        if (leaves) {
          x[j] = 0.0;
          is_passive[static_cast<std::size_t>(j)] = false;
        }
        return leaves;
      });
      if (!passive.empty()) trial = solve_passive(gram, moment, passive);
    }
    x = passive.empty() ? Eigen::VectorXd::Zero(size) : trial;
  }
  return x;
}

}  // namespace roofcal
