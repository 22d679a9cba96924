#include "calibrate/tree_ensemble.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "calibrate/json_reading.h"
#include "calibrate/packed_text.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace roofcal {
namespace {

constexpr std::uint32_t kNeverExceeded = 255;
constexpr std::size_t kMaxTreeNodes = 32768;
constexpr std::uint32_t kMaxFeatures = 63;
constexpr double kLargestLeaf = 32767.0;

constexpr std::uint32_t encode(std::uint32_t feature, std::uint32_t threshold, std::size_t distance) {
  return feature | threshold << 8U | static_cast<std::uint32_t>(distance) << 16U;
}
constexpr std::uint32_t kLeaf = encode(0, kNeverExceeded, 0);

}  // namespace

TreeEnsemble::TreeEnsemble(std::span<const std::vector<TreeNode>> trees, double leaf_step) : leaf_step_(leaf_step) {
  double largest = 0.0;
  for (const auto& tree : trees) {
    for (const TreeNode& node : tree) {
      if (node.leaf) largest = std::max(largest, std::abs(node.value));
    }
  }
  leaf_step_ = std::max(leaf_step, largest / kLargestLeaf);
  for (const auto& tree : trees) {
    append(tree);
  }
}

// Breadth first, children side by side.
void TreeEnsemble::append(std::span<const TreeNode> tree) {
  const std::size_t root = nodes_.size();
  std::vector<std::size_t> order{0};  // index into `tree` of each node written
  std::vector<std::int32_t> level{0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const TreeNode& node = tree[order[i]];
    if (node.leaf) {
      nodes_.push_back(kLeaf);
      values_.push_back(static_cast<std::int32_t>(std::lround(node.value / leaf_step_)));
      continue;
    }
    nodes_.push_back(encode(node.feature, node.threshold, order.size() - i));
    values_.push_back(0);
    order.push_back(node.left);
    order.push_back(node.right);
    level.push_back(level[i] + 1);
    level.push_back(level[i] + 1);
  }
  roots_.push_back(static_cast<std::int32_t>(root));
  depths_.push_back(level.back());
}

bool TreeEnsemble::has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

void TreeEnsemble::predict(const BinnedRows& rows, std::span<double> out) const { predict(rows, out, Path::automatic); }

void TreeEnsemble::predict(const BinnedRows& rows, std::span<double> out, Path path) const {
  // Below half a block the scalar walk of the lanes that are there is faster than the vector walk of all.
  const bool vector = path == Path::avx2 || (path == Path::automatic && rows.rows > kLanes / 4 && has_avx2());
  for (std::size_t block = 0; block < rows.blocks(); ++block) {
    const std::size_t lanes = std::min(kLanes, rows.rows - block * kLanes);
    std::array<std::int32_t, kLanes> sums{};
    if (vector) {
      avx2(rows.block(block), sums.data());
    } else {
      scalar(rows.block(block), lanes, sums.data());
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      out[block * kLanes + lane] = leaf_step_ * sums[lane];
    }
  }
}

void TreeEnsemble::scalar(const std::uint32_t* block, std::size_t lanes, std::int32_t* sums) const {
  // Independent walks side by side hide each other's latency.
  constexpr std::size_t kTogether = 4;
  const std::uint32_t* nodes = nodes_.data();
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::size_t tree = 0;
    for (; tree + kTogether <= roots_.size(); tree += kTogether) {
      std::array<std::uint32_t, kTogether> at{};
      std::int32_t depth = 0;
      for (std::size_t i = 0; i < kTogether; ++i) {
        at[i] = static_cast<std::uint32_t>(roots_[tree + i]);
        depth = std::max(depth, depths_[tree + i]);
      }
      for (; depth > 0; --depth) {
        for (std::uint32_t& position : at) {
          const std::uint32_t node = nodes[position];
          const std::uint32_t bin = block[(node & 255U) * kLanes + lane];
          position += (node >> 16U) + (bin > (node >> 8U & 255U) ? 1U : 0U);
        }
      }
      for (const std::uint32_t position : at) {
        sums[lane] += values_[position];
      }
    }
    for (; tree < roots_.size(); ++tree) {
      auto position = static_cast<std::uint32_t>(roots_[tree]);
      for (std::int32_t depth = depths_[tree]; depth > 0; --depth) {
        const std::uint32_t node = nodes[position];
        const std::uint32_t bin = block[(node & 255U) * kLanes + lane];
        position += (node >> 16U) + (bin > (node >> 8U & 255U) ? 1U : 0U);
      }
      sums[lane] += values_[position];
    }
  }
}

#if defined(__x86_64__)
namespace {

// One level down for eight lanes. `lanes`: their numbers.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i step(const int* nodes, const int* block, __m256i lanes,
                                                                __m256i position) {
  const __m256i byte = _mm256_set1_epi32(255);
  const __m256i node = _mm256_i32gather_epi32(nodes, position, 4);
  const __m256i slot = _mm256_add_epi32(_mm256_slli_epi32(_mm256_and_si256(node, byte), 4), lanes);
  const __m256i bin = _mm256_i32gather_epi32(block, slot, 4);
  const __m256i threshold = _mm256_and_si256(_mm256_srli_epi32(node, 8), byte);
  const __m256i right = _mm256_cmpgt_epi32(bin, threshold);  // -1 where true
  return _mm256_sub_epi32(_mm256_add_epi32(position, _mm256_srli_epi32(node, 16)), right);
}

}  // namespace

[[gnu::target("avx2")]] void TreeEnsemble::avx2(const std::uint32_t* block, std::int32_t* sums) const {
  static_assert(kLanes == 16);
  const auto* nodes = reinterpret_cast<const int*>(nodes_.data());
  const auto* bins = reinterpret_cast<const int*>(block);
  const __m256i low = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i high = _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15);
  __m256i sum_low = _mm256_setzero_si256();
  __m256i sum_high = _mm256_setzero_si256();
  std::size_t tree = 0;
  for (; tree + 2 <= roots_.size(); tree += 2) {
    __m256i a = _mm256_set1_epi32(roots_[tree]);
    __m256i b = a;
    __m256i c = _mm256_set1_epi32(roots_[tree + 1]);
    __m256i d = c;
    for (std::int32_t depth = std::max(depths_[tree], depths_[tree + 1]); depth > 0; --depth) {
      a = step(nodes, bins, low, a);
      b = step(nodes, bins, high, b);
      c = step(nodes, bins, low, c);
      d = step(nodes, bins, high, d);
    }
    sum_low = _mm256_add_epi32(sum_low, _mm256_i32gather_epi32(values_.data(), a, 4));
    sum_high = _mm256_add_epi32(sum_high, _mm256_i32gather_epi32(values_.data(), b, 4));
    sum_low = _mm256_add_epi32(sum_low, _mm256_i32gather_epi32(values_.data(), c, 4));
    sum_high = _mm256_add_epi32(sum_high, _mm256_i32gather_epi32(values_.data(), d, 4));
  }
  if (tree < roots_.size()) {
    __m256i a = _mm256_set1_epi32(roots_[tree]);
    __m256i b = a;
    for (std::int32_t depth = depths_[tree]; depth > 0; --depth) {
      a = step(nodes, bins, low, a);
      b = step(nodes, bins, high, b);
    }
    sum_low = _mm256_add_epi32(sum_low, _mm256_i32gather_epi32(values_.data(), a, 4));
    sum_high = _mm256_add_epi32(sum_high, _mm256_i32gather_epi32(values_.data(), b, 4));
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), sum_low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 8), sum_high);
}
#else
void TreeEnsemble::avx2(const std::uint32_t* block, std::int32_t* sums) const { scalar(block, kLanes, sums); }
#endif

nlohmann::json TreeEnsemble::to_json() const {
  // Nodes breadth first: 0 for a leaf, else feature + 1. The shape of the trees and where each one ends follow from it.
  std::vector<std::uint32_t> splits;
  std::vector<std::uint32_t> thresholds;
  std::vector<std::uint32_t> leaves;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i] == kLeaf) {
      splits.push_back(0);
      leaves.push_back(zigzag(values_[i]));
    } else {
      splits.push_back((nodes_[i] & 255U) + 1);
      thresholds.push_back(nodes_[i] >> 8U & 255U);
    }
  }
  return {{"leaf_step", leaf_step_},
          {"nodes", nodes_.size()},
          {"splits", pack_text(splits, 1)},
          {"thresholds", pack_text(thresholds, 2)},
          {"leaves", pack_text(leaves, 3)}};
}

TreeEnsemble TreeEnsemble::from_json(const nlohmann::json& json, const FeatureBins& bins) {
  constexpr std::int64_t kMostNodes = 1 << 24;
  TreeEnsemble ensemble;
  ensemble.leaf_step_ = read_number(json, "leaf_step", 1e-12, 1e3);
  const auto count = static_cast<std::size_t>(read_integer(json, "nodes", 0, kMostNodes));
  const auto splits = unpack_text(read_string(json, "splits"), count, 1);
  const auto inner = static_cast<std::size_t>(std::ranges::count_if(splits, [](std::uint32_t s) { return s > 0; }));
  const auto thresholds = unpack_text(read_string(json, "thresholds"), inner, 2);
  const auto leaves = unpack_text(read_string(json, "leaves"), count - inner, 3);

  ensemble.nodes_.reserve(count);
  ensemble.values_.reserve(count);
  std::vector<std::uint8_t> level;
  std::size_t next_inner = 0;
  std::size_t next_leaf = 0;
  for (std::size_t at = 0; at < count;) {
    const std::size_t root = at;
    std::size_t known = 1;  // nodes of this tree that a parent has announced
    level.assign(1, 0);
    for (; at - root < known; ++at) {
      require(at < count, "the last tree is cut off");
      if (splits[at] == 0) {
        const std::int32_t value = unzigzag(leaves[next_leaf++]);
        require(std::abs(value) <= kLargestLeaf + 1, "a leaf is out of range");
        ensemble.nodes_.push_back(kLeaf);
        ensemble.values_.push_back(value);
        continue;
      }
      const std::uint32_t feature = splits[at] - 1;
      const std::uint32_t threshold = thresholds[next_inner++];
      require(feature < bins.features() && feature < kMaxFeatures, "a split on a feature that does not exist");
      require(threshold + 1 < bins.bins(feature), "a split beyond the bins of its feature");
      require(known + 2 <= kMaxTreeNodes, "a tree with too many nodes");
      ensemble.nodes_.push_back(encode(feature, threshold, root + known - at));
      ensemble.values_.push_back(0);
      const auto below = static_cast<std::uint8_t>(level[at - root] + 1);
      require(below < 255, "a tree that is too deep");
      level.push_back(below);
      level.push_back(below);
      known += 2;
    }
    ensemble.roots_.push_back(static_cast<std::int32_t>(root));
    ensemble.depths_.push_back(level.back());
  }
  return ensemble;
}

}  // namespace roofcal
