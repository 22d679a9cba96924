#include "calibrate/feature_bins.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "calibrate/json_reading.h"
#include "calibrate/packed_text.h"

namespace roofcal {
namespace {

// Values are told apart on this grid; cuts lie on one twice as fine.
constexpr double kGrid = 4096.0;
constexpr double kCutGrid = 2.0 * kGrid;
constexpr double kLargest = 65536.0;  // features are O(1) numbers; beyond this they share a bin
constexpr int kDigits = 5;            // of a packed cut, enough for zigzag(2 * kLargest * kCutGrid)

// For each lane, how many of the table's 256 ascending entries lie at or below the value. The lanes' searches run side
// by side, without branches, so that they wait for memory together.
void search(const float* table, const std::array<float, kLanes>& values, std::uint32_t* positions) {
  for (std::uint32_t step = 128; step > 0; step /= 2) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const bool beyond = values[lane] >= table[positions[lane] + step - 1];
      positions[lane] += step * static_cast<std::uint32_t>(beyond);
    }
  }
}

std::int64_t to_grid(double value) { return std::llround(std::clamp(value, -kLargest + 1.0, kLargest - 1.0) * kGrid); }

// Cuts of one feature, in units of the cuts' grid, from its sorted values.
std::vector<std::int32_t> choose_cuts(const std::vector<std::int64_t>& sorted, std::size_t max_bins) {
  std::vector<std::int64_t> values;
  std::vector<std::size_t> counts;
  for (const std::int64_t value : sorted) {
    if (values.empty() || value > values.back()) {
      values.push_back(value);
      counts.push_back(0);
    }
    ++counts.back();
  }
  std::vector<std::int32_t> cuts;
  const double share = static_cast<double>(sorted.size()) / static_cast<double>(max_bins);
  const bool all = values.size() <= max_bins;
  double seen = 0.0;
  for (std::size_t i = 0; i + 1 < values.size() && cuts.size() + 1 < max_bins; ++i) {
    seen += static_cast<double>(counts[i]);
    if (all || seen >= share * static_cast<double>(cuts.size() + 1)) {
      cuts.push_back(static_cast<std::int32_t>(values[i] + values[i + 1]));
    }
  }
  return cuts;
}

}  // namespace

FeatureBins FeatureBins::learn(const Matrix& features, std::size_t max_bins) {
  FeatureBins bins;
  std::vector<std::int64_t> column(static_cast<std::size_t>(features.rows()));
  for (Eigen::Index feature = 0; feature < features.cols(); ++feature) {
    for (Eigen::Index row = 0; row < features.rows(); ++row) {
      column[static_cast<std::size_t>(row)] = to_grid(features(row, feature));
    }
    std::ranges::sort(column);
    bins.cuts_.push_back(choose_cuts(column, max_bins));
  }
  bins.build_tables();
  return bins;
}

void FeatureBins::build_tables() {
  tables_.assign(cuts_.size() * kTable, std::numeric_limits<float>::infinity());
  for (std::size_t feature = 0; feature < cuts_.size(); ++feature) {
    std::ranges::transform(cuts_[feature], tables_.begin() + static_cast<std::ptrdiff_t>(feature * kTable),
                           [](std::int32_t cut) { return static_cast<float>(cut / kCutGrid); });
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
  for (std::size_t block = 0; block < out.blocks(); ++block) {
    const std::size_t first = block * kLanes;
    const std::size_t lanes = std::min(kLanes, out.rows - first);
    for (std::size_t feature = 0; feature < out.features; ++feature) {
      std::array<float, kLanes> wanted{};
      for (std::size_t lane = 0; lane < lanes; ++lane) wanted[lane] = values[(first + lane) * out.features + feature];
      std::uint32_t* found = out.bins.data() + (block * out.features + feature) * kLanes;
      search(tables_.data() + feature * kTable, wanted, found);
      std::fill(found + lanes, found + kLanes, 0U);
    }
  }
}

nlohmann::json FeatureBins::to_json() const {
  std::vector<std::size_t> counts;
  std::vector<std::uint32_t> steps;  // from cut to cut
  for (const auto& cuts : cuts_) {
    counts.push_back(cuts.size());
    std::int32_t last = 0;
    for (const std::int32_t cut : cuts) {
      steps.push_back(zigzag(cut - last));
      last = cut;
    }
  }
  return {{"counts", counts}, {"steps", pack_text(steps, kDigits)}};
}

FeatureBins FeatureBins::from_json(const nlohmann::json& json) {
  FeatureBins bins;
  std::size_t total = 0;
  for (const double count : read_numbers(json, "counts")) {
    require(count >= 0.0 && count < static_cast<double>(kMaxBins), "\"counts\" of a feature's cuts is beyond 254");
    bins.cuts_.emplace_back(static_cast<std::size_t>(count));
    total += bins.cuts_.back().size();
  }
  const auto steps = unpack_text(read_string(json, "steps"), total, kDigits);
  std::size_t next = 0;
  for (auto& cuts : bins.cuts_) {
    std::int64_t last = 0;
    for (std::int32_t& cut : cuts) {
      const std::int64_t here = last + unzigzag(steps[next++]);
      require(std::abs(static_cast<double>(here)) <= kLargest * kCutGrid, "a cut of a feature is out of range");
      require(&cut == cuts.data() || here > last, "the cuts of a feature are not ascending");
      cut = static_cast<std::int32_t>(here);
      last = here;
    }
  }
  bins.build_tables();
  return bins;
}

}  // namespace roofcal
