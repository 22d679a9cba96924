#include "calibrate/interval.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "calibrate/json_reading.h"

namespace roofcal {
namespace {

constexpr double kErrorFloor = 0.004;
// On each side. More than the 5 % aimed at: the folds' fits, which calibrate the intervals, have four fifths of the
// points and are a little worse than the model itself (seen on six classes at 300 and 1000 points: 90 % nominal
// covers 92.5 %).
constexpr double kMiss = 0.0575;
// Where few points make the quantile, the fold's fifth is missed more: 300 points cover 92.3 % at the share above.
constexpr double kMissOfFew = 0.0625;
// A bin's own quantiles weigh as much as those of all points when it has this many points.
constexpr double kShrinkage = 60.0;
constexpr double kFewestForTails = 19.0;      // points of which one lies beyond each 5 % quantile
constexpr double kFewestForSides = 400.0;     // with fewer, both sides share one quantile of |error|
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

struct Score {
  double value;
  double weight;
};

// The value below which a share `level` of new draws falls, distribution-free: the new draw itself counts as one more
// score beyond all others.
double conformal_quantile(std::vector<Score>& scores, double level) {
  std::ranges::sort(scores, {}, &Score::value);
  double total = 0.0;
  for (const Score& score : scores) {
    total += score.weight;
  }
  const double wanted = level * total * (1.0 + 1.0 / static_cast<double>(scores.size()));
  double sum = 0.0;
  for (const Score& score : scores) {
    sum += score.weight;
    if (sum >= wanted * (1.0 - 1e-12)) return score.value;
  }
  return scores.back().value;
}

// `scale`: what scores were divided by, typically.
Quantiles quantiles_of(const std::vector<Score>& scores, double scale) {
  const auto count = static_cast<double>(scores.size());
  std::vector<Score> side = scores;
  Quantiles quantiles;
  if (count < kFewestForSides) {
    std::ranges::transform(side, side.begin(), [](const Score& s) { return Score{std::abs(s.value), s.weight}; });
    quantiles.hi = conformal_quantile(side, 1.0 - 2.0 * kMissOfFew);
    quantiles.lo = -quantiles.hi;
  } else {
    quantiles.hi = std::max(0.0, conformal_quantile(side, 1.0 - kMiss));
    std::ranges::transform(side, side.begin(), [](const Score& s) { return Score{-s.value, s.weight}; });
    quantiles.lo = -std::max(0.0, conformal_quantile(side, 1.0 - kMiss));
  }
  if (count < kFewestForTails) {
    // The largest of so few errors is no 90 % limit yet: stretched, with a floor, since one point knows nothing.
    const double stretch = std::sqrt(kFewestForTails / count);
    const double floor = kHalfwidthOfOnePoint / (count * scale);
    quantiles.hi = std::max(floor, stretch * quantiles.hi);
    quantiles.lo = std::min(-floor, stretch * quantiles.lo);
  }
  return quantiles;
}

using Bins = std::array<Quantiles, IntervalModel::kBins>;

// Quantiles by bin from the points that `use` admits.
template <class Use>
Bins calibrate_bins(const std::vector<Score>& scores, const std::vector<std::size_t>& bin_of, double scale, Use use) {
  std::vector<Score> all;
  std::array<std::vector<Score>, IntervalModel::kBins> parts;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!use(i)) continue;
    all.push_back(scores[i]);
    parts[bin_of[i]].push_back(scores[i]);
  }
  Bins bins;
  if (all.empty()) return bins;
  const Quantiles pooled = quantiles_of(all, scale);
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
  std::vector<Score> scores;
  for (Eigen::Index i = 0; i < count; ++i) {
    const double weight = errors.weights.empty() ? 1.0 : errors.weights[static_cast<std::size_t>(i)];
    scores.push_back({errors.log_errors[i] * std::exp(-model.log_scale_mean_), weight});
  }
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
      for (std::size_t i = 0; i < scores.size(); ++i) {
        if (errors.folds[i] == fold) scores[i].value *= std::exp(-scales[i]);
      }
    }
    auto trees = train_trees(rows, centred, {}, {}, options);
    if (!trees) return trees.error();
    model.scale_ = *std::move(trees);
  }

  model.quantiles_ = calibrate_bins(scores, bin_of, std::exp(model.log_scale_mean_), [](std::size_t) { return true; });
  double covered = 0.0;
  double total = 0.0;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const Bins bins = calibrate_bins(scores, bin_of, std::exp(model.log_scale_mean_),
                                     [&](std::size_t i) { return errors.folds[i] != fold; });
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (errors.folds[i] != fold) continue;
      const Quantiles& limits = bins[bin_of[i]];
      total += scores[i].weight;
      if (scores[i].value >= limits.lo && scores[i].value <= limits.hi) covered += scores[i].weight;
    }
  }
  model.coverage_ = covered / total;
  return model;
}

IntervalModel IntervalModel::of_quantiles(const std::array<std::int64_t, kBins - 1>& edges,
                                          const std::array<Quantiles, kBins>& quantiles, double coverage) {
  IntervalModel model;
  model.edges_ = edges;
  model.quantiles_ = quantiles;
  model.coverage_ = coverage;
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
