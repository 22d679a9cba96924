#include "calibrate/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "calibrate/design.h"
#include "calibrate/host_bound.h"
#include "calibrate/kernel_split.h"
#include "calibrate/model_state.h"
#include "calibrate/physical_mean.h"
#include "calibrate/random.h"
#include "calibrate/residual.h"
#include "calibrate/selection.h"
#include "core/roofline.h"

namespace roofcal {
namespace {

constexpr double kSmallestErrorThatWeighs = 0.03;
constexpr double kOutlier = 3.0;              // in robust standard deviations of the held-out errors
constexpr std::size_t kFewestForScale = 100;  // below, one scale for all shapes
constexpr std::size_t kCompactShapes = 300;   // kept for `nearest` in a calibration that is shipped
// Shares of the error that a curve makes at a point left out. Where points were chosen among more shapes, the gap was
// twice as wide as those that remain; where all were used, other shapes lie in gaps nearly as wide. With these the 90 %
// intervals of the public collectives cover 92, 89 and 91 % with 8, 11 and all points, over twenty random fifths of the
// sizes held out.
constexpr double kErrorOfHalfTheGap = 0.38;
constexpr double kErrorOfAGapLeft = 0.8;
constexpr double kSmallestMean = 1e-12;  // seconds: guards the logarithm where all weights are zero

Vector log_of_mean(const Matrix& columns, const Vector& weights) {
  return (columns * weights).array().max(kSmallestMean).log();
}

// Trees turn last-bit differences of their targets into differences of 0.3 %: so the weights are short numbers, and
// targets lie on a grid (tree_training.h).
double to_four_digits(double value) {
  if (value == 0.0) return 0.0;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 3.0);
  return std::round(value / unit) * unit;
}

// Everything about one class that its fits share.
struct Problem {
  Design design;
  Vector log_times;
  FeatureBins bins;
  TrainingRows rows;
  BinnedRows binned;
  ResidualPlan plan;
  std::vector<std::size_t> fold_of;
};

// Folds of equal size, the same for the same shapes whatever their order.
std::vector<std::size_t> assign_folds(std::size_t points, std::size_t folds, std::uint64_t seed) {
  std::vector<std::size_t> order(points);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed);
  random.shuffle(order);
  std::vector<std::size_t> fold_of(points);
  for (std::size_t i = 0; i < points; ++i) {
    fold_of[order[i]] = i % folds;
  }
  return fold_of;
}

// Log t - log estimate of points by fits that did not see them, of the process and of the trees alone; zero for points
// of folds that were left out.
struct HeldOutParts {
  Vector of_process, of_trees;

  [[nodiscard]] Vector blended(double process_share) const {
    return process_share * of_process + (1.0 - process_share) * of_trees;
  }
};

// `process`: where the hyper-parameters come from. `folds`: how many of the `fold_of` to hold out, from the first.
Result<HeldOutParts> held_out_errors(const Problem& problem, std::span<const std::size_t> fold_of, std::size_t folds,
                                     const GaussianProcess& process, const TreeOptions& trees,
                                     std::span<const double> weights) {
  const Eigen::Index count = problem.log_times.size();
  HeldOutParts errors{Vector::Zero(count), Vector::Zero(count)};
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<std::size_t> seen;
    std::vector<std::size_t> unseen;
    for (std::size_t i = 0; i < fold_of.size(); ++i) {
      (fold_of[i] == fold ? unseen : seen).push_back(i);
    }
    if (seen.empty()) break;  // a single point
    const Vector mean = fit_physical_mean(problem.design.columns(seen, Eigen::all), problem.design.times(seen))
                            .unaryExpr(&to_four_digits);
    const Vector target = problem.log_times - log_of_mean(problem.design.columns, mean);
    errors.of_process(unseen) = target(unseen);
    errors.of_trees(unseen) = target(unseen);
    if (problem.plan.process) {
      const auto refitted = process.refit(problem.design.features(seen, Eigen::all), target(seen), Vector());
      errors.of_process(unseen) -= predict_rows(refitted, problem.design.features(unseen, Eigen::all));
    }
    if (problem.plan.trees) {
      const auto trained = train_trees(problem.rows, target, weights, seen, trees);
      if (!trained) return trained.error();
      Vector estimate(count);
      trained->predict(problem.binned, {estimate.data(), static_cast<std::size_t>(count)});
      errors.of_trees(unseen) -= estimate(unseen);
    }
  }
  return errors;
}

// Of the absolute errors of the trees over the first fold.
double sum_of_fold(const HeldOutParts& errors, std::span<const std::size_t> fold_of) {
  double sum = 0.0;
  for (std::size_t i = 0; i < fold_of.size(); ++i) {
    if (fold_of[i] == 0) sum += std::abs(errors.of_trees[static_cast<Eigen::Index>(i)]);
  }
  return sum;
}

// With many points: as absolute instead of squared errors would weigh them.
std::vector<double> weights_by_error(const Vector& errors) {
  const Eigen::ArrayXd raw = errors.array().abs().max(kSmallestErrorThatWeighs).inverse();
  const Eigen::ArrayXd weights = (raw / raw.mean() * 100.0).round() / 100.0;
  return {weights.data(), weights.data() + weights.size()};
}

// With few: all alike, but for the outliers.
std::vector<double> weights_against_outliers(const Vector& errors) {
  std::vector<double> magnitudes(errors.data(), errors.data() + errors.size());
  std::ranges::transform(magnitudes, magnitudes.begin(), [](double error) { return std::abs(error); });
  const auto middle = magnitudes.begin() + static_cast<std::ptrdiff_t>(magnitudes.size() / 2);
  std::ranges::nth_element(magnitudes, middle);
  const double limit = kOutlier * 1.4826 * *middle;
  std::vector<double> weights;
  for (const double error : errors) {
    const double ratio = std::min(1.0, limit / std::max(std::abs(error), 1e-9));
    weights.push_back(std::max(1e-4, std::round(ratio * ratio * 1e4) / 1e4));
  }
  return weights;
}

// The errors of the model's blend on points held out, and the weights of points that they tell.
Result<Vector> held_out(Problem& problem, const GaussianProcess& process, std::vector<double>& weights) {
  ResidualPlan& plan = problem.plan;
  const std::size_t folds = 1 + *std::ranges::max_element(problem.fold_of);
  if (plan.process || !plan.trees) {
    auto parts = held_out_errors(problem, problem.fold_of, folds, process, plan.fold_trees, {});
    if (!parts) return parts.error();
    const Vector errors = parts->blended(plan.process ? plan.process_share : 0.0);
    if (plan.process) weights = weights_against_outliers(errors);
    return errors;
  }
  std::vector<std::size_t> half_of = problem.fold_of;
  std::ranges::transform(half_of, half_of.begin(), [](std::size_t fold) { return fold % 2; });
  const auto first = held_out_errors(problem, half_of, 2, process, plan.first_trees, {});
  if (!first) return first.error();
  weights = weights_by_error(first->of_trees);
  const auto usual = held_out_errors(problem, problem.fold_of, folds, process, plan.fold_trees, weights);
  if (!usual) return usual.error();
  double least = sum_of_fold(*usual, problem.fold_of);
  for (const double min_child_weight : plan.min_child_weights) {
    TreeOptions trees = plan.fold_trees;
    trees.min_child_weight = min_child_weight;
    const auto other = held_out_errors(problem, problem.fold_of, 1, process, trees, weights);
    if (!other) return other.error();
    const double sum = sum_of_fold(*other, problem.fold_of);
    if (sum >= least) continue;
    least = sum;
    plan.final_trees.min_child_weight = min_child_weight;
  }
  return usual->of_trees;
}

// What the noise of a point with such a weight and error is beyond the common one.
Vector extra_noise(std::span<const double> weights, const Vector& errors, double noise) {
  Vector extra(errors.size());
  for (Eigen::Index i = 0; i < errors.size(); ++i) {
    const double weight = weights[static_cast<std::size_t>(i)];
    extra[i] = noise * (1.0 / weight - 1.0) + errors[i] * errors[i] * (1.0 - weight);
  }
  return extra;
}

FitFigures figures_of(std::span<const Sample> points, std::size_t rows, const Vector& errors, double coverage) {
  FitFigures figures;
  figures.rows = rows;
  figures.points = points.size();
  std::vector<double> ape;
  for (const double error : errors) {
    ape.push_back(std::abs(std::expm1(-error)));
  }
  figures.mape = std::accumulate(ape.begin(), ape.end(), 0.0) / static_cast<double>(ape.size());
  std::ranges::sort(ape);
  figures.p95_ape = ape[static_cast<std::size_t>(0.95 * static_cast<double>(ape.size() - 1))];
  figures.coverage90 = coverage;
  for (const Sample& point : points) {
    figures.kernel_seconds += point.time.value();
  }
  return figures;
}

std::vector<Sample> chosen(std::span<const Sample> pool, std::span<const std::size_t> indices) {
  std::vector<Sample> points;
  for (const std::size_t index : indices) {
    points.push_back(pool[index]);
  }
  return points;
}

}  // namespace

std::vector<Sample> merge_repeats(std::span<const Sample> samples) {
  std::vector<Sample> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted, [](const Sample& a, const Sample& b) {
    return a.shape != b.shape ? a.shape < b.shape : a.time < b.time;
  });
  std::vector<Sample> merged;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin;
    while (end < sorted.size() && sorted[end].shape == sorted[begin].shape) ++end;
    const std::size_t middle = (begin + end) / 2;
    const bool even = (end - begin) % 2 == 0;
    merged.push_back(sorted[middle]);
    if (even) merged.back().time = 0.5 * (sorted[middle - 1].time + sorted[middle].time);
    begin = end;
  }
  return merged;
}

namespace {

// What fit_class has checked and prepared: everything of a model that its points do not decide.
Result<std::unique_ptr<ClassModel::State>> empty_state(const ClassKey& key, const GpuSpec& gpu) {
  auto state = std::make_unique<ClassModel::State>();
  state->key = key;
  state->gpu = gpu;
  state->op = find_operator(key.op);
  if (state->op == nullptr) {
    return Error{ErrorCode::bad_data, fmt::format("{}: operator {} is not known", describe(key), key.op)};
  }
  state->featurizer = make_featurizer(*state->op, gpu, key.attributes);
  if (state->featurizer == nullptr) {
    return Error{ErrorCode::bad_data,
                 fmt::format("{}: {} cannot be calibrated on {}: the operator has no model, or the catalogue lacks its "
                             "peak, bandwidth, SM count, clock or L2 size (`roofcal gpu show {}`)",
                             describe(key), key.op, gpu.name, gpu.name)};
  }
  return state;
}

// One model of all samples. `points`: the samples with repeats merged.
Result<ClassModel> fit_part(const ClassKey& key, const GpuSpec& gpu, std::span<const Sample> samples,
                            std::vector<Sample> points, const FitOptions& options);

// A model of each hidden kernel.
Result<ClassModel> fit_parts(const ClassKey& key, const GpuSpec& gpu, std::span<const Sample> samples,
                             const FitOptions& options) {
  auto whole = empty_state(key, gpu);
  if (!whole) return whole.error();
  std::unique_ptr<ClassModel::State> state = *std::move(whole);
  std::vector<FitFigures> figures;
  for (const auto& [split, own] : by_kernel(*state->featurizer, samples)) {
    auto model = fit_part(key, gpu, own, merge_repeats(own), options);
    if (!model) return model.error();
    figures.push_back(model->figures());
    state->parts.push_back({split, *std::move(model)});
  }
  state->figures = together(figures);
  return ClassModel(std::move(state));
}

}  // namespace

Result<ClassModel> fit_class(const ClassKey& key, const GpuSpec& gpu, std::span<const Sample> samples,
                             const FitOptions& options) {
  if (options.points && *options.points == 0) {
    return Error{ErrorCode::usage, fmt::format("{}: zero points cannot be fitted", describe(key))};
  }
  if (samples.empty()) return Error{ErrorCode::bad_data, fmt::format("{}: no samples to fit", describe(key))};
  for (const Sample& sample : samples) {
    if (!(sample.time.value() > 0.0) || !std::isfinite(sample.time.value())) {
      return Error{ErrorCode::bad_data,
                   fmt::format("{}: a time of {} s cannot be fitted", describe(key), sample.time.value())};
    }
  }
  auto checked = empty_state(key, gpu);
  if (!checked) return checked.error();
  const Featurizer& featurizer = *(*checked)->featurizer;
  std::vector<Sample> points = merge_repeats(samples);
  std::vector<Sample> tried = points;
  if (options.points && *options.points < points.size()) {
    tried = chosen(points, select_points(key, gpu, points, *options.points, options.selection, options.seed));
  }
  if (hides_kernels(featurizer, tried)) return fit_parts(key, gpu, samples, options);
  return fit_part(key, gpu, samples, std::move(points), options);
}

namespace {

// The least measured time over the hard bound, where measurements beat it; else 1.
double least_over_bound(const ClassModel::State& state, std::span<const Sample> points) {
  double least = 1.0;
  for (const Sample& point : points) {
    const Work work = state.op->work(state.key.attributes, point.shape);
    const Seconds bound = roofline(state.gpu, work, state.key.cache).time;
    if (point.time < bound) least = std::min(least, point.time / bound);
  }
  return least;
}

// The curve of a class whose shapes have one field, its errors those of points left out.
Result<ClassModel> fit_curve(std::unique_ptr<ClassModel::State> state, std::span<const Sample> samples,
                             std::vector<Sample> points, const FitOptions& options) {
  std::ranges::sort(points, {}, &Sample::shape);
  const Curve curve(points);
  const Design design = make_design(*state->featurizer, points);
  const Vector weights = fit_physical_mean(design.columns, design.times).unaryExpr(&to_four_digits);
  state->weights.assign(weights.data(), weights.data() + weights.size());
  HeldOutErrors held_out{curve.left_out_errors(), {}, {}, {}};
  // Repeats cannot be told better than they agree.
  const double share = points.size() < merge_repeats(samples).size() ? kErrorOfHalfTheGap : kErrorOfAGapLeft;
  const double spread = spread_of_repeats(samples);
  for (double& error : held_out.log_errors) {
    error = std::copysign(std::hypot(share * error, spread), error);
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    held_out.sizes.push_back(std::max<std::int64_t>(points[i].shape[0], 1));
    held_out.folds.push_back(i);
  }
  auto interval = IntervalModel::fit(held_out, {}, options.seed);
  if (!interval) return interval.error();
  state->interval = *std::move(interval);
  state->bins = FeatureBins::learn(design.features, FeatureBins::kMaxBins);
  state->figures = figures_of(points, samples.size(), held_out.log_errors, state->interval.cross_validated_coverage());
  state->figures.host_bound = looks_host_bound(state->key, state->gpu, points);
  state->curve = options.publish_times ? curve : curve.between_points();
  state->size_field = 0;
  state->figures.least_over_bound = least_over_bound(*state, points);
  state->range = CalibratedRange(points);
  state->points = PointSet(points, options.publish_times);
  return ClassModel(std::move(state));
}

Result<ClassModel> fit_part(const ClassKey& key, const GpuSpec& gpu, std::span<const Sample> samples,
                            std::vector<Sample> points, const FitOptions& options) {
  auto checked = empty_state(key, gpu);
  if (!checked) return checked.error();
  std::unique_ptr<ClassModel::State> state = *std::move(checked);
  std::vector<double> stand_for;  // how many shapes each point stands for
  if (options.points && *options.points < points.size()) {
    const auto selected = select_points(key, gpu, points, *options.points, options.selection, options.seed);
    stand_for = represented(key, gpu, points, selected);
    points = chosen(points, selected);
  }
  if (state->op->fields().size() == 1) return fit_curve(std::move(state), samples, std::move(points), options);

  Problem problem;
  problem.design = make_design(*state->featurizer, points);
  problem.log_times = problem.design.times.array().log();
  problem.plan = plan_residual(points.size(), options.compact, options.seed);
  problem.bins = FeatureBins::learn(problem.design.features, problem.plan.bins);
  problem.rows = binned_for_training(problem.bins, problem.design.features);
  problem.binned = problem.rows.for_prediction();
  problem.fold_of = assign_folds(points.size(), std::min(problem.plan.folds, points.size()), options.seed);

  Vector weights = fit_physical_mean(problem.design.columns, problem.design.times);
  weights = weights.unaryExpr(&to_four_digits);
  state->weights.assign(weights.data(), weights.data() + weights.size());
  const Vector target = problem.log_times - log_of_mean(problem.design.columns, weights);
  if (problem.plan.process) {
    GpOptions process;
    process.seed = options.seed;
    state->process =
        GaussianProcess::fit(problem.design.features, target, process_features(*state->featurizer), process);
    state->process_share = problem.plan.process_share;
  }

  std::vector<double> tree_weights;
  auto errors = held_out(problem, state->process, tree_weights);
  if (!errors) return errors.error();
  if (problem.plan.process) {
    state->process = state->process.refit(problem.design.features, target,
                                          extra_noise(tree_weights, *errors, state->process.noise()));
  }
  if (problem.plan.trees) {
    auto trees = train_trees(problem.rows, target, tree_weights, {}, problem.plan.final_trees);
    if (!trees) return trees.error();
    state->trees = *std::move(trees);
  }

  state->size_field = state->featurizer->hints().size_field;
  HeldOutErrors held_out{*errors, {}, problem.fold_of, stand_for};
  for (const Sample& point : points) {
    held_out.sizes.push_back(std::max<std::int64_t>(point.shape[state->size_field], 1));
  }
  const bool scaled = points.size() >= kFewestForScale;
  auto interval = IntervalModel::fit(held_out, scaled ? problem.rows : TrainingRows{}, options.seed);
  if (!interval) return interval.error();
  state->interval = *std::move(interval);
  state->bins = std::move(problem.bins);
  state->figures = figures_of(points, samples.size(), *errors, state->interval.cross_validated_coverage());
  state->figures.host_bound = looks_host_bound(key, gpu, points);
  state->figures.least_over_bound = least_over_bound(*state, points);
  state->range = CalibratedRange(points);
  if (options.compact && points.size() > kCompactShapes) {
    points = chosen(points, select_points(key, gpu, points, kCompactShapes, Selection::spread, options.seed));
  }
  state->points = PointSet(points, options.publish_times);
  return ClassModel(std::move(state));
}

}  // namespace

}  // namespace roofcal
