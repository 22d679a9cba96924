// A frozen ensemble of regression trees over binned features: integers only, so that every machine and every code path
// gives the same sum.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "calibrate/feature_bins.h"

namespace roofcal {

/// One node as training delivers it; children are indices into the same tree.
struct TreeNode {
  bool leaf = true;
  std::uint32_t feature = 0;    ///< inner nodes: go right when the feature's bin > `threshold`
  std::uint32_t threshold = 0;  ///< 0 .. 254
  std::size_t left = 0;
  std::size_t right = 0;
  double value = 0.0;  ///< leaves
};

class TreeEnsemble {
 public:
  TreeEnsemble() = default;
  /// Trees whose node 0 is the root. Leaf values are rounded to multiples of `leaf_step`, or of what 16 bits need to
  /// hold the largest. Precondition: features < 64, fewer than 32768 nodes a tree.
  TreeEnsemble(std::span<const std::vector<TreeNode>> trees, double leaf_step);

  [[nodiscard]] bool empty() const { return roots_.empty(); }
  [[nodiscard]] std::size_t trees() const { return roots_.size(); }
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }

  /// Sum of all trees for each row. `out.size() == rows.rows`. Uses AVX2 where the processor has it.
  void predict(const BinnedRows& rows, std::span<double> out) const;
  enum class Path { automatic, scalar, avx2 };
  /// The same by a given path, for tests and benchmarks. Precondition for avx2: `has_avx2()`.
  void predict(const BinnedRows& rows, std::span<double> out, Path path) const;
  [[nodiscard]] static bool has_avx2();

  [[nodiscard]] nlohmann::json to_json() const;
  /// Throws as json_reading.h says; `bins` are those that the ensemble was trained on.
  [[nodiscard]] static TreeEnsemble from_json(const nlohmann::json& json, const FeatureBins& bins);

 private:
  void append(std::span<const TreeNode> tree);
  void scalar(const std::uint32_t* block, std::size_t lanes, std::int32_t* sums) const;
  void avx2(const std::uint32_t* block, std::int32_t* sums) const;

  // A node: bits 0-7 feature, 8-15 threshold, 16-31 distance to its left child (the right one follows it). Leaves point
  // to themselves: distance 0 and a threshold that no bin exceeds, so that a walk needs no test for the end.
  std::vector<std::uint32_t> nodes_;
  std::vector<std::int32_t> values_;  // of leaves, in leaf steps; parallel to nodes_
  std::vector<std::int32_t> roots_;
  std::vector<std::int32_t> depths_;
  double leaf_step_ = 1.0;
};

}  // namespace roofcal
