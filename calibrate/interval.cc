#include "calibrate/interval.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "calibrate/json_reading.h"

namespace roofcal {
namespace {

constexpr double kErrorFloor = 0.004;
constexpr double kMiss = 0.05;  // on each side
// A bin's own quantiles weigh as much as those of all points when it has this many points.
constexpr double kShrinkage = 60.0;
constexpr double kFewestForTails = 19.0;      // points of which one lies beyond each 5 % quantile
constexpr double kHalfwidthOfOnePoint = 0.3;  // in log time

TreeOptions scale_options(std::size_t rows, std::uint64_t seed) {
  TreeOptions options;
  options.rounds = 30;
  options.max_depth = 4;
  options.eta = 0.15;
  options.subsample = 1.0;
  options.colsample_bytree = 1.0;
  options.min_child_weight = std::min(40.0, std::max(10.0, static_cast<double>(rows) / 10.0));
  options.lambda = 1.0;
  options.seed = seed;
  options.leaf_step = 1e-4;
  return options;
}

// The value below which a share `level` of new draws falls, distribution-free: rank ceil((n + 1) level), from whichever
// end is nearer.
double conformal_quantile(std::vector<double>& values, double level) {
  const auto count = static_cast<double>(values.size());
  const double rank = level < 0.5 ? std::floor((count + 1.0) * level) : std::ceil((count + 1.0) * level);
  const auto index = static_cast<std::ptrdiff_t>(std::clamp(rank, 1.0, count)) - 1;
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

// `scale`: what scores were divided by, typically.
Quantiles quantiles_of(std::vector<double>& values, double scale) {
  Quantiles quantiles;
  if (values.empty()) return quantiles;
  // With fewer points than a 5 % tail needs, the extremes are stretched and a floor is kept: one point knows nothing.
  const auto count = static_cast<double>(values.size());
  const double stretch = std::max(1.0, std::sqrt(kFewestForTails / count));
  const double floor = count < kFewestForTails ? kHalfwidthOfOnePoint / (count * scale) : 0.0;
  quantiles.lo = std::min(-floor, stretch * conformal_quantile(values, kMiss));
  quantiles.hi = std::max(floor, stretch * conformal_quantile(values, 1.0 - kMiss));
  return quantiles;
}

using Bins = std::array<Quantiles, IntervalModel::kBins>;

// Quantiles by bin from the points that `use` admits.
template <class Use>
Bins calibrate_bins(const Vector& scores, const std::vector<std::size_t>& bin_of, double scale, Use use) {
  std::vector<double> all;
  std::array<std::vector<double>, IntervalModel::kBins> parts;
  for (std::size_t i = 0; i < bin_of.size(); ++i) {
    if (!use(i)) continue;
    all.push_back(scores[static_cast<Eigen::Index>(i)]);
    parts[bin_of[i]].push_back(all.back());
  }
  const Quantiles pooled = quantiles_of(all, scale);
  Bins bins;
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const auto count = static_cast<double>(parts[b].size());
    const Quantiles own = count < kFewestForTails ? pooled : quantiles_of(parts[b], scale);
    const double share = count / (count + kShrinkage);
    bins[b].lo = share * own.lo + (1.0 - share) * pooled.lo;
    bins[b].hi = share * own.hi + (1.0 - share) * pooled.hi;
  }
  return bins;
}

}  // namespace

Result<IntervalModel> IntervalModel::fit(const HeldOutErrors& errors, const TrainingRows& rows, std::uint64_t seed) {
  IntervalModel model;
  const Eigen::Index count = errors.log_errors.size();
  const Vector target = (errors.log_errors.array().abs() + kErrorFloor).log();
  model.log_scale_mean_ = target.mean();
  const Vector centred = target.array() - model.log_scale_mean_;

  const auto [smallest, largest] = std::minmax_element(errors.sizes.begin(), errors.sizes.end());
  const double log_span = std::log(static_cast<double>(*largest) / static_cast<double>(*smallest));
  for (std::size_t edge = 0; edge < model.edges_.size(); ++edge) {
    model.edges_[edge] = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(*smallest) * std::exp(log_span * static_cast<double>(edge + 1) / kBins) - 1e-6));
  }
  std::vector<std::size_t> bin_of;
  for (const std::int64_t size : errors.sizes) {
    bin_of.push_back(static_cast<std::size_t>(std::upper_bound(model.edges_.begin(), model.edges_.end(), size) -
                                              model.edges_.begin()));
  }

  // Scales of points whose errors the trees have not seen.
  Vector scores = errors.log_errors * std::exp(-model.log_scale_mean_);
  const std::size_t folds = 1 + *std::max_element(errors.folds.begin(), errors.folds.end());
  if (rows.features > 0) {
    const TreeOptions options = scale_options(rows.rows, seed);
    const BinnedRows binned = rows.for_prediction();
    std::vector<double> scales(rows.rows);
    for (std::size_t fold = 0; fold < folds; ++fold) {
      std::vector<std::size_t> others;
      for (std::size_t i = 0; i < errors.folds.size(); ++i) {
        if (errors.folds[i] != fold) others.push_back(i);
      }
      const auto trees = train_trees(rows, centred, {}, others, options);
      if (!trees) return trees.error();
      trees->predict(binned, scales);
      for (Eigen::Index i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (errors.folds[at] == fold) {
          scores[i] = errors.log_errors[i] * std::exp(-scales[at] - model.log_scale_mean_);
        }
      }
    }
    auto trees = train_trees(rows, centred, {}, {}, options);
    if (!trees) return trees.error();
    model.scale_ = *std::move(trees);
  }

  model.quantiles_ = calibrate_bins(scores, bin_of, std::exp(model.log_scale_mean_), [](std::size_t) { return true; });
  std::size_t covered = 0;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const Bins bins = calibrate_bins(scores, bin_of, std::exp(model.log_scale_mean_), [&](std::size_t i) { return errors.folds[i] != fold; });
    for (std::size_t i = 0; i < bin_of.size(); ++i) {
      const double score = scores[static_cast<Eigen::Index>(i)];
      covered += errors.folds[i] == fold && score >= bins[bin_of[i]].lo && score <= bins[bin_of[i]].hi ? 1U : 0U;
    }
  }
  model.coverage_ = static_cast<double>(covered) / static_cast<double>(count);
  return model;
}

void IntervalModel::log_scales(const BinnedRows& rows, std::span<double> out) const {
  if (scale_.empty()) {
    std::fill(out.begin(), out.end(), log_scale_mean_);
    return;
  }
  scale_.predict(rows, out);
  for (double& value : out) {
    value += log_scale_mean_;
  }
}

const Quantiles& IntervalModel::quantiles(std::int64_t size) const {
  std::size_t bin = 0;
  for (const std::int64_t edge : edges_) {
    bin += size >= edge ? 1U : 0U;
  }
  return quantiles_[bin];
}

nlohmann::json IntervalModel::to_json() const {
  nlohmann::json quantiles = nlohmann::json::array();
  for (const Quantiles& of_bin : quantiles_) {
    quantiles.push_back(of_bin.lo);
    quantiles.push_back(of_bin.hi);
  }
  return {{"scale", scale_.to_json()},
          {"log_scale_mean", log_scale_mean_},
          {"edges", edges_},
          {"quantiles", quantiles},
          {"coverage", coverage_}};
}

IntervalModel IntervalModel::from_json(const nlohmann::json& json, const FeatureBins& bins) {
  IntervalModel model;
  model.scale_ = TreeEnsemble::from_json(member(json, "scale"), bins);
  model.log_scale_mean_ = read_number(json, "log_scale_mean", -50.0, 50.0);
  model.coverage_ = read_number(json, "coverage", 0.0, 1.0);
  const auto edges = read_numbers(json, "edges", kBins - 1);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    require(std::abs(edges[i]) < 1e18, "an edge of the intervals' bins is out of range");
    model.edges_[i] = static_cast<std::int64_t>(edges[i]);
  }
  const auto quantiles = read_numbers(json, "quantiles", 2 * kBins);
  for (std::size_t i = 0; i < kBins; ++i) {
    model.quantiles_[i] = {quantiles[2 * i], quantiles[2 * i + 1]};
    require(model.quantiles_[i].lo <= 0.0 && model.quantiles_[i].hi >= 0.0, "the quantiles of an interval are swapped");
  }
  return model;
}

}  // namespace roofcal
