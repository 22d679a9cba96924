#include "calibrate/plan/class_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "calibrate/design.h"
#include "calibrate/residual.h"

namespace roofcal {
namespace {

// A random sample of what there is: more changes a plan little, and costs time and memory in proportion.
constexpr std::size_t kMostCandidates = 4000;
constexpr std::size_t kMostTargets = 400;
constexpr std::size_t kMostMeasured = 2000;
// Of each step: candidates drawn far from what is measured, of which the one with most gain a second is taken. With
// many, the choice narrows to cheap shapes and to what the smooth process can see, while trees learn from what it
// cannot. Tried on H200 with 2 and 8 s a class (4, 16, all candidates): GEMM 5.4/4.2, 5.7/4.4, 5.8/4.6 %; context
// attention 4.2/3.1, 4.4/3.2, 4.6/3.2 %. The more is measured, the fewer, and the closer to space-filling.
constexpr std::size_t kMostDraws = 6;
constexpr std::size_t kFewestDraws = 2;
constexpr std::size_t kDrawsTimesMeasured = 1200;

std::size_t draws_after(std::size_t measured) {
  return std::clamp(kDrawsTimesMeasured / std::max<std::size_t>(measured, 1), kFewestDraws, kMostDraws);
}

// A batch is this share of what is measured: taken together, without a look at what the first of them tells.
constexpr std::size_t kBatchShare = 32;
constexpr double kLengths = 1.2;  // longer than the centre of a fit's prior
// How far a measured error may scale what the prior expects.
constexpr double kMostScale = 10.0;
constexpr double kSmallestDeviation = 1e-6;

Matrix features_of(const Featurizer& featurizer, const std::vector<Shape>& shapes) {
  std::vector<Sample> samples;
  samples.reserve(shapes.size());
  for (const Shape& shape : shapes) samples.push_back({shape, Seconds(1.0)});
  return make_design(featurizer, samples).features;
}

template <class T>
void thin(std::vector<T>& all, std::size_t most, Random& random) {
  if (all.size() <= most) return;
  random.shuffle(all);
  all.resize(most);
}

// At most kMostTargets, drawn in proportion to their weights and then alike, or all with their weights.
std::pair<std::vector<Shape>, Vector> targets_of(const PlanClass& what, Random& random) {
  std::vector<Shape> shapes;
  double total = 0.0;
  for (const PlanClass::Target& target : what.targets) total += target.weight;
  if (what.targets.size() <= kMostTargets) {
    Vector weights(static_cast<Eigen::Index>(what.targets.size()));
    for (const PlanClass::Target& target : what.targets) {
      weights[static_cast<Eigen::Index>(shapes.size())] = target.weight / total;
      shapes.push_back(target.shape);
    }
    return {std::move(shapes), std::move(weights)};
  }
  // Systematic: evenly spaced along the running sum of weights.
  std::vector<std::size_t> order(what.targets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(order);
  const double step = total / static_cast<double>(kMostTargets);
  double next = random.uniform() * step;
  double sum = 0.0;
  for (const std::size_t index : order) {
    sum += what.targets[index].weight;
    for (; next < sum && shapes.size() < kMostTargets; next += step) shapes.push_back(what.targets[index].shape);
  }
  const auto count = static_cast<Eigen::Index>(shapes.size());
  return {std::move(shapes), Vector::Constant(count, 1.0 / static_cast<double>(count))};
}

// Coordinates in which points are spread (select_points), standardised over the candidates.
struct SpreadCoordinates {
  SpreadCoordinates(const Featurizer& featurizer, const Matrix& candidates) {
    const auto names = featurizer.feature_names();
    for (const std::string_view wanted : featurizer.hints().spread) {
      const auto found = std::ranges::find(names, wanted);
      if (found != names.end()) columns.push_back(found - names.begin());
    }
    if (columns.empty()) {
      columns.resize(names.size());
      std::iota(columns.begin(), columns.end(), Eigen::Index{0});
    }
    const Matrix chosen = candidates(Eigen::all, columns);
    mean = chosen.colwise().mean();
    deviation = ((chosen.rowwise() - mean).colwise().squaredNorm() / static_cast<double>(chosen.rows())).cwiseSqrt();
    deviation = (deviation.array() < kSmallestDeviation).select(1.0, deviation);
  }
  [[nodiscard]] Matrix of(const Matrix& features) const {
    Matrix chosen = features(Eigen::all, columns);
    chosen.rowwise() -= mean;
    return chosen.array().rowwise() / deviation.array();
  }

  std::vector<Eigen::Index> columns;
  Eigen::RowVectorXd mean, deviation;
};

Vector squared_distances(const Matrix& rows, const Eigen::RowVectorXd& point) {
  return (rows.rowwise() - point).rowwise().squaredNorm();
}

}  // namespace

Result<ClassPlanner> ClassPlanner::create(const PlanClass& what, const MeasurementCost& cost, std::uint64_t seed) {
  const Operator* op = find_operator(what.key.op);
  const auto featurizer = op == nullptr ? nullptr : make_featurizer(*op, what.gpu, what.key.attributes);
  if (featurizer == nullptr) {
    return Error{ErrorCode::bad_data, fmt::format("{}: {} cannot be calibrated on {}: nothing to plan for",
                                                  describe(what.key), what.key.op, what.gpu.name)};
  }
  if (what.candidates.empty() || what.targets.empty()) {
    return Error{ErrorCode::bad_data, fmt::format("{}: no shapes to plan for", describe(what.key))};
  }
  Random random(seed);
  const std::set<Shape> done(what.measured.begin(), what.measured.end());
  std::vector<std::size_t> originals;
  for (std::size_t i = 0; i < what.candidates.size(); ++i) {
    if (!done.contains(what.candidates[i].shape)) originals.push_back(i);
  }
  thin(originals, kMostCandidates, random);
  std::vector<Shape> candidates;
  for (const std::size_t index : originals) candidates.push_back(what.candidates[index].shape);
  std::vector<Shape> measured(done.begin(), done.end());
  thin(measured, kMostMeasured, random);
  const auto [targets, weights] = targets_of(what, random);

  const PlanFeatures features{features_of(*featurizer, measured), features_of(*featurizer, candidates),
                              features_of(*featurizer, targets)};
  ErrorPrior prior;
  for (const GpFeature& feature : process_features(*featurizer)) {
    prior.columns.push_back(feature.column);
    prior.lengths.push_back(kLengths * std::exp(feature.log_length_mean));
  }
  ExpectedError error(features, weights, prior);
  if (what.error && !measured.empty()) {
    const double scale = std::clamp(*what.error / error.expected(), 1.0 / kMostScale, kMostScale);
    prior.signal *= scale * scale;
    prior.noise *= scale * scale;
    error = ExpectedError(features, weights, prior);
  }

  ClassPlanner planner(std::move(error), random.next());
  planner.originals_ = std::move(originals);
  for (const std::size_t index : planner.originals_) planner.costs_.push_back(cost.of(what.candidates[index].likely));
  planner.measured_ = done.size();
  planner.squared_ =
      Vector::Constant(features.candidates.rows(), measured.empty() ? 1.0 : std::numeric_limits<double>::infinity());
  if (!candidates.empty()) {
    const SpreadCoordinates coordinates(*featurizer, features.candidates);
    planner.spread_ = coordinates.of(features.candidates);
    const Matrix places = coordinates.of(features.measured);
    for (Eigen::Index i = 0; i < places.rows(); ++i) {
      planner.squared_ = planner.squared_.cwiseMin(squared_distances(planner.spread_, places.row(i)));
    }
  }
  // 0 means taken: shapes that lie on a measured one in these coordinates are the last to be drawn, not forbidden.
  planner.squared_ = planner.squared_.cwiseMax(std::numeric_limits<float>::min());
  return planner;
}

// As k-means++ seeds its clusters, with the cube of the distance (select_points): a few of the candidates that fit,
// cheap ones more often.
std::optional<std::size_t> ClassPlanner::best_of_a_few(const Vector& squared, Seconds left, double& gain) {
  Vector chances = squared.array() * squared.array().sqrt();
  for (Eigen::Index i = 0; i < chances.size(); ++i) {
    const Seconds cost = costs_[static_cast<std::size_t>(i)];
    chances[i] = cost > left ? 0.0 : chances[i] / std::sqrt(cost.value());
  }
  const double total = chances.sum();
  if (!(total > 0.0)) return std::nullopt;
  std::vector<double> draws;
  const std::size_t count = draws_after(measured_);
  for (std::size_t i = 0; i < count; ++i) draws.push_back(random_.uniform() * total);
  std::ranges::sort(draws);
  std::optional<std::size_t> best;
  double best_rate = 0.0;
  double sum = 0.0;
  auto draw = draws.begin();
  for (Eigen::Index i = 0; i < chances.size() && draw != draws.end(); ++i) {
    if (chances[i] <= 0.0) continue;
    sum += chances[i];
    if (*draw >= sum) continue;
    while (draw != draws.end() && *draw < sum) ++draw;
    const auto candidate = static_cast<std::size_t>(i);
    const double own = error_.gain(candidate);
    const double rate = own / costs_[candidate].value();
    if (best && rate <= best_rate) continue;
    best = candidate;
    best_rate = rate;
    gain = own;
  }
  return best;
}

ClassPlanner::Batch ClassPlanner::propose(Seconds left) {
  Batch batch;
  Vector squared = squared_;
  double gains = 0.0;
  const std::size_t size = std::max<std::size_t>(1, measured_ / kBatchShare);
  while (batch.candidates.size() < size) {
    double gain = 0.0;
    const auto next = best_of_a_few(squared, left - batch.cost, gain);
    if (!next) break;
    const auto at = static_cast<Eigen::Index>(*next);
    squared = squared.cwiseMin(squared_distances(spread_, spread_.row(at)).cwiseMax(std::numeric_limits<float>::min()));
    for (const std::size_t taken : batch.candidates) squared[static_cast<Eigen::Index>(taken)] = 0.0;
    squared[at] = 0.0;
    batch.candidates.push_back(*next);
    batch.cost += costs_[*next];
    gains += gain;
  }
  if (!batch.candidates.empty()) batch.rate = gains / batch.cost.value();
  return batch;
}

void ClassPlanner::take(const Batch& batch) {
  error_.measure(batch.candidates);
  for (const std::size_t candidate : batch.candidates) {
    const auto at = static_cast<Eigen::Index>(candidate);
    const Vector distances = squared_distances(spread_, spread_.row(at)).cwiseMax(std::numeric_limits<float>::min());
    squared_ = (squared_.array() > 0.0).select(squared_.cwiseMin(distances), 0.0);
    squared_[at] = 0.0;
  }
  measured_ += batch.candidates.size();
}

}  // namespace roofcal
