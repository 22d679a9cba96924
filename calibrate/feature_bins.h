// Features as small integers: per feature a table of cuts, so that trees compare bytes and a last-bit difference
// between machines cannot move a sample across a split.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "calibrate/matrix.h"

namespace roofcal {

/// Shapes are evaluated this many side by side.
inline constexpr std::size_t kLanes = 16;

/// A batch of binned rows: blocks of kLanes rows, within a block feature by feature. Rows that fill up the last block
/// are zero.
struct BinnedRows {
  std::vector<std::uint32_t> bins;
  std::size_t rows = 0;
  std::size_t features = 0;

  [[nodiscard]] std::size_t blocks() const { return (rows + kLanes - 1) / kLanes; }
  [[nodiscard]] const std::uint32_t* block(std::size_t index) const { return bins.data() + index * features * kLanes; }
};

class FeatureBins {
 public:
  static constexpr std::size_t kMaxBins = 255;

  FeatureBins() = default;
  /// Cuts halfway between neighbouring values; where a feature has more than `max_bins` values, at its quantiles.
  /// Values are told apart to 1/4096. Precondition: 2 <= max_bins <= kMaxBins.
  [[nodiscard]] static FeatureBins learn(const Matrix& features, std::size_t max_bins);

  [[nodiscard]] std::size_t features() const { return cuts_.size(); }
  /// Bins of a feature: one more than its cuts.
  [[nodiscard]] std::size_t bins(std::size_t feature) const { return cuts_[feature].size() + 1; }
  /// How many cuts of the feature lie at or below the value.
  [[nodiscard]] std::uint32_t bin(std::size_t feature, float value) const;
  /// `values`: rows x features(), row by row. Reuses the memory of `out`.
  void bin_rows(std::span<const float> values, BinnedRows& out) const;

  [[nodiscard]] nlohmann::json to_json() const;
  /// Throws as json_reading.h says.
  [[nodiscard]] static FeatureBins from_json(const nlohmann::json& json);

 private:
  static constexpr std::size_t kTable = 256;
  void build_tables();

  std::vector<std::vector<std::int32_t>> cuts_;  // in units of 1/8192, ascending
  std::vector<float> tables_;  // cuts of a feature padded with infinity to kTable: a search without branches
};

}  // namespace roofcal
