#include "calibrate/kernel_split.h"

#include <algorithm>
#include <cmath>

#include "calibrate/design.h"
#include "calibrate/physical_mean.h"

namespace roofcal {
namespace {

constexpr double kClearlyBetter = 0.8;  // of the error of one set of weights
constexpr std::size_t kFolds = 4;
constexpr std::size_t kFewest = 20;      // points, to judge by
constexpr std::size_t kEnough = 1000;    // points; more tell no better
constexpr double kSmallestMean = 1e-12;  // seconds

// The sum of |log t - log mean| over points that the weights have not seen.
double held_out_error(const Featurizer& featurizer, std::span<const Sample> points) {
  const Design design = make_design(featurizer, points);
  double sum = 0.0;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<Eigen::Index> seen;
    std::vector<Eigen::Index> unseen;
    for (std::size_t i = 0; i < points.size(); ++i) {
      (i % kFolds == fold ? unseen : seen).push_back(static_cast<Eigen::Index>(i));
    }
    if (seen.empty() || unseen.empty()) continue;
    const Vector weights = fit_physical_mean(design.columns(seen, Eigen::all), design.times(seen));
    const Vector mean = (design.columns(unseen, Eigen::all) * weights).array().max(kSmallestMean);
    sum += (design.times(unseen).array() / mean.array()).log().abs().sum();
  }
  return sum;
}

}  // namespace

std::map<int, std::vector<Sample>> by_kernel(const Featurizer& featurizer, std::span<const Sample> samples) {
  std::map<int, std::vector<Sample>> parts;
  for (const Sample& sample : samples) {
    parts[featurizer.class_split(sample.shape)].push_back(sample);
  }
  return parts;
}

bool hides_kernels(const Featurizer& featurizer, std::span<const Sample> points) {
  std::vector<Sample> judged;
  const std::size_t step = std::max<std::size_t>(1, points.size() / kEnough);
  for (std::size_t i = 0; i < points.size(); i += step) {
    judged.push_back(points[i]);
  }
  const auto parts = by_kernel(featurizer, judged);
  if (parts.size() < 2 || judged.size() < kFewest) return false;
  double apart = 0.0;
  for (const auto& [split, own] : parts) {
    apart += held_out_error(featurizer, own);
  }
  return apart < kClearlyBetter * held_out_error(featurizer, judged);
}

FitFigures together(std::span<const FitFigures> parts) {
  FitFigures all;
  for (const FitFigures& part : parts) {
    const auto rows = static_cast<double>(part.rows);
    all.rows += part.rows;
    all.points += part.points;
    all.mape += rows * part.mape;
    all.p95_ape = std::max(all.p95_ape, part.p95_ape);
    all.coverage90 += rows * part.coverage90;
    all.least_over_bound = std::min(all.least_over_bound, part.least_over_bound);
    all.kernel_seconds += part.kernel_seconds;
    all.host_bound = all.host_bound || part.host_bound;
  }
  all.mape /= static_cast<double>(all.rows);
  all.coverage90 /= static_cast<double>(all.rows);
  return all;
}

double spread_of_repeats(std::span<const Sample> samples) {
  std::map<Shape, std::vector<double>> shapes;
  for (const Sample& sample : samples) {
    shapes[sample.shape].push_back(std::log(sample.time.value()));
  }
  double squares = 0.0;
  std::size_t freedom = 0;
  for (const auto& [shape, logs] : shapes) {
    double mean = 0.0;
    for (const double value : logs) mean += value / static_cast<double>(logs.size());
    for (const double value : logs) squares += (value - mean) * (value - mean);
    freedom += logs.size() - 1;
  }
  return freedom == 0 ? 0.0 : std::sqrt(squares / static_cast<double>(freedom));
}

}  // namespace roofcal
