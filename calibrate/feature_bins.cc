#include "calibrate/feature_bins.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "calibrate/json_reading.h"

namespace roofcal {
namespace {

constexpr double kRounding = 1e-5;

// Cuts of one feature from its sorted, rounded values.
std::vector<float> choose_cuts(const std::vector<double>& sorted, std::size_t max_bins) {
  std::vector<double> values;
  std::vector<std::size_t> counts;
  for (const double value : sorted) {
    // Values that rounding could still confuse share a bin.
    if (values.empty() || value > values.back() + 1.5 * kRounding) {
      values.push_back(value);
      counts.push_back(0);
    }
    ++counts.back();
  }
  std::vector<float> cuts;
  const double share = static_cast<double>(sorted.size()) / static_cast<double>(max_bins);
  const bool all = values.size() <= max_bins;
  double seen = 0.0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    seen += static_cast<double>(counts[i]);
    if (all || seen >= share * static_cast<double>(cuts.size() + 1)) {
      cuts.push_back(static_cast<float>(0.5 * (values[i] + values[i + 1])));
    }
  }
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  if (cuts.size() >= max_bins) cuts.resize(max_bins - 1);
  return cuts;
}

}  // namespace

FeatureBins FeatureBins::learn(const Matrix& features, std::size_t max_bins) {
  FeatureBins bins;
  std::vector<double> column(static_cast<std::size_t>(features.rows()));
  for (Eigen::Index feature = 0; feature < features.cols(); ++feature) {
    for (Eigen::Index row = 0; row < features.rows(); ++row) {
      column[static_cast<std::size_t>(row)] = std::round(features(row, feature) / kRounding) * kRounding;
    }
    std::sort(column.begin(), column.end());
    bins.cuts_.push_back(choose_cuts(column, max_bins));
  }
  bins.build_tables();
  return bins;
}

void FeatureBins::build_tables() {
  tables_.assign(cuts_.size() * kTable, std::numeric_limits<float>::infinity());
  for (std::size_t feature = 0; feature < cuts_.size(); ++feature) {
    std::copy(cuts_[feature].begin(), cuts_[feature].end(),
              tables_.begin() + static_cast<std::ptrdiff_t>(feature * kTable));
  }
}

std::uint32_t FeatureBins::bin(std::size_t feature, float value) const {
  const float* table = tables_.data() + feature * kTable;
  std::uint32_t position = 0;
  for (std::uint32_t step = kTable / 2; step > 0; step /= 2) {
    position += value >= table[position + step - 1] ? step : 0;
  }
  return position;
}

void FeatureBins::bin_rows(std::span<const float> values, BinnedRows& out) const {
  out.features = features();
  out.rows = out.features == 0 ? 0 : values.size() / out.features;
  out.bins.assign(out.blocks() * out.features * kLanes, 0);
  for (std::size_t row = 0; row < out.rows; ++row) {
    std::uint32_t* lane = out.bins.data() + row / kLanes * out.features * kLanes + row % kLanes;
    const float* from = values.data() + row * out.features;
    for (std::size_t feature = 0; feature < out.features; ++feature) {
      lane[feature * kLanes] = bin(feature, from[feature]);
    }
  }
}

nlohmann::json FeatureBins::to_json() const {
  // As 24-bit integers of 2^-12 would lose nothing that matters, but exact floats keep the round trip an identity.
  return {{"cuts", cuts_}};
}

FeatureBins FeatureBins::from_json(const nlohmann::json& json) {
  FeatureBins bins;
  const nlohmann::json& cuts = member(json, "cuts");
  require(cuts.is_array(), "\"cuts\" is not an array");
  for (const nlohmann::json& of_feature : cuts) {
    require(of_feature.is_array() && of_feature.size() < kMaxBins, "\"cuts\" of a feature are not a list of at most 254");
    std::vector<float> values;
    for (const nlohmann::json& value : of_feature) {
      require(value.is_number() && std::isfinite(value.get<float>()), "\"cuts\" holds something that is no number");
      values.push_back(value.get<float>());
    }
    require(std::is_sorted(values.begin(), values.end()), "\"cuts\" of a feature are not ascending");
    bins.cuts_.push_back(std::move(values));
  }
  bins.build_tables();
  return bins;
}

}  // namespace roofcal
