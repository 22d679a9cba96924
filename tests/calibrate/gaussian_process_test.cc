#include "calibrate/gaussian_process.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "calibrate/gp_objective.h"
#include "calibrate/random.h"

namespace roofcal {
namespace {

struct Data {
  Matrix features;
  Vector targets;
};

Data smooth_data(Eigen::Index rows, std::uint64_t seed) {
  Random random(seed);
  Data data{Matrix(rows, 3), Vector(rows)};
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index d = 0; d < 3; ++d) {
      data.features(i, d) = 4.0 * random.uniform();
    }
    data.targets[i] = 0.3 * std::sin(data.features(i, 0)) + 0.1 * data.features(i, 1);
  }
  return data;
}

TEST(GpObjective, GradientIsThatOfFiniteDifferences) {
  const Data data = smooth_data(40, 1);
  GpPriors priors;
  priors.log_length_mean = {0.4, 0.4, 0.4};
  const GpObjective objective(data.features, data.targets, priors);
  Vector theta(5);
  theta << 0.3, -0.2, 0.9, -1.0, -6.0;
  Vector gradient;
  objective.evaluate(theta, gradient);
  for (Eigen::Index i = 0; i < theta.size(); ++i) {
    constexpr double kStep = 1e-5;
    Vector ignored;
    Vector up = theta;
    up[i] += kStep;
    Vector down = theta;
    down[i] -= kStep;
    const double slope = (objective.evaluate(up, ignored) - objective.evaluate(down, ignored)) / (2.0 * kStep);
    EXPECT_NEAR(gradient[i], slope, 1e-4 * std::max(1.0, std::abs(slope))) << "parameter " << i;
  }
}

std::vector<float> row_of(const Matrix& features, Eigen::Index row) {
  std::vector<float> values;
  for (Eigen::Index d = 0; d < features.cols(); ++d) {
    values.push_back(static_cast<float>(features(row, d)));
  }
  return values;
}

const std::vector<GpFeature> kAll{{0, 0.4}, {1, 0.4}, {2, 0.4}};

TEST(GaussianProcess, LearnsASmoothFunction) {
  const Data train = smooth_data(200, 1);
  const Data test = smooth_data(100, 2);
  const auto process = GaussianProcess::fit(train.features, train.targets, kAll, {});
  for (Eigen::Index i = 0; i < test.targets.size(); ++i) {
    EXPECT_NEAR(process.predict(row_of(test.features, i)), test.targets[i], 0.03);
  }
}

TEST(GaussianProcess, ForgetsFarAway) {
  const Data train = smooth_data(100, 1);
  const auto process = GaussianProcess::fit(train.features, train.targets, kAll, {});
  EXPECT_NEAR(process.predict(std::vector<float>{1e4F, 1e4F, 1e4F}), 0.0, 1e-6);
}

TEST(GaussianProcess, ExtraNoiseSilencesAPoint) {
  Data data = smooth_data(100, 1);
  data.targets[7] += 2.0;  // a glitch
  const auto process = GaussianProcess::fit(data.features, data.targets, kAll, {});
  Vector extra = Vector::Zero(100);
  extra[7] = 1e6;
  const auto robust = process.refit(data.features, data.targets, extra);
  EXPECT_NEAR(robust.predict(row_of(data.features, 7)), data.targets[7] - 2.0, 0.3);
}

TEST(GaussianProcess, ComesBackFromJsonAsItWas) {
  const Data train = smooth_data(61, 1);
  const auto process = GaussianProcess::fit(train.features, train.targets, kAll, {});
  const auto back = GaussianProcess::from_json(process.to_json(), 3);
  EXPECT_EQ(back.to_json(), process.to_json());
  for (Eigen::Index i = 0; i < 61; ++i) {
    EXPECT_EQ(back.predict(row_of(train.features, i)), process.predict(row_of(train.features, i)));
  }
}

}  // namespace
}  // namespace roofcal
