#include "calibrate/dispatch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "calibrate/json_reading.h"

namespace roofcal {
namespace {

constexpr int kMaxDepth = 8;
constexpr std::size_t kFewestInLeaf = 5;
constexpr int kMaxAlignment = 12;
// A split has to tell this many choices more than its leaf did, or it is noise.
constexpr double kSmallestGain = 1e-9;

// Feature 2i: the size of field i. 2i + 1: the power of two that divides it, as an exponent; zero is divisible by all.
std::int64_t feature_value(const Shape& shape, std::size_t feature) {
  const std::int64_t size = shape[feature / 2];
  if (feature % 2 == 0) return size;
  return size == 0 ? kMaxAlignment : std::min(kMaxAlignment, std::countr_zero(static_cast<std::uint64_t>(size)));
}

// The threshold between two neighbouring values: half-way, in logarithms for sizes, so that 1024 | 4096 splits at 2048.
double between(std::int64_t below, std::int64_t above, std::size_t feature) {
  if (feature % 2 == 1 || below <= 0) return 0.5 * static_cast<double>(below + above);
  return std::floor(std::sqrt(static_cast<double>(below) * static_cast<double>(above)));
}

struct Labelled {
  const Shape* shape;
  int kernel;
};

double gini(const std::vector<double>& counts, double total) {
  double sum = total;
  for (const double count : counts) {
    sum -= count * count / total;
  }
  return sum;
}

struct Split {
  double impurity = 0.0;
  int feature = -1;
  double threshold = 0.0;
};

}  // namespace

// Grows the tree over `rows` and returns the index of its root.
struct DispatchGrower {
  std::vector<Dispatch::Node>& nodes;
  std::size_t kernels;

  int grow(std::vector<Labelled> rows, int depth) {
    std::vector<double> counts(kernels, 0.0);
    for (const Labelled& row : rows) {
      counts[static_cast<std::size_t>(row.kernel)] += 1.0;
    }
    const auto index = static_cast<int>(nodes.size());
    nodes.emplace_back();
    const auto majority = static_cast<int>(std::ranges::max_element(counts) - counts.begin());
    nodes.back().kernel = majority;
    const bool pure = counts[static_cast<std::size_t>(majority)] == static_cast<double>(rows.size());
    if (pure || depth == kMaxDepth || rows.size() < 2 * kFewestInLeaf) return index;

    const Split split = best_split(rows, counts);
    if (split.feature < 0) return index;
    const auto middle = std::stable_partition(rows.begin(), rows.end(), [&](const Labelled& row) {
      return static_cast<double>(feature_value(*row.shape, static_cast<std::size_t>(split.feature))) <= split.threshold;
    });
    const int left = grow({rows.begin(), middle}, depth + 1);
    const int right = grow({middle, rows.end()}, depth + 1);
    const auto at = static_cast<std::size_t>(index);
    const auto same = [&](int child) {
      return nodes[static_cast<std::size_t>(child)].feature < 0 &&
             nodes[static_cast<std::size_t>(child)].kernel == majority;
    };
    if (same(left) && same(right)) {
      nodes.resize(at + 1);  // a split whose sides choose the same says nothing
      return index;
    }
    nodes[at] = {split.feature, split.threshold, left, right, majority};
    return index;
  }

  [[nodiscard]] Split best_split(std::vector<Labelled>& rows, const std::vector<double>& counts) const {
    const auto total = static_cast<double>(rows.size());
    Split best;
    best.impurity = gini(counts, total) - kSmallestGain;
    const std::size_t features = 2 * rows.front().shape->size();
    for (std::size_t feature = 0; feature < features; ++feature) {
      std::ranges::stable_sort(rows, {}, [&](const Labelled& row) { return feature_value(*row.shape, feature); });
      std::vector<double> left(kernels, 0.0);
      std::vector<double> right = counts;
      for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
        const auto kernel = static_cast<std::size_t>(rows[i].kernel);
        left[kernel] += 1.0;
        right[kernel] -= 1.0;
        const std::int64_t below = feature_value(*rows[i].shape, feature);
        const std::int64_t above = feature_value(*rows[i + 1].shape, feature);
        if (below == above || i + 1 < kFewestInLeaf || rows.size() - i - 1 < kFewestInLeaf) continue;
        const auto count = static_cast<double>(i + 1);
        const double impurity = gini(left, count) + gini(right, total - count);
        if (impurity < best.impurity - kSmallestGain) {
          best = {impurity, static_cast<int>(feature), between(below, above, feature)};
        }
      }
    }
    return best;
  }
};

Dispatch Dispatch::learn(std::span<const Choice> choices) {
  Dispatch dispatch;
  for (const Choice& choice : choices) {
    dispatch.kernels_.emplace_back(choice.kernel);
  }
  std::ranges::sort(dispatch.kernels_);
  dispatch.kernels_.erase(std::unique(dispatch.kernels_.begin(), dispatch.kernels_.end()), dispatch.kernels_.end());
  if (dispatch.kernels_.size() < 2) return dispatch;
  std::vector<Labelled> rows;
  for (const Choice& choice : choices) {
    const auto kernel = std::ranges::lower_bound(dispatch.kernels_, choice.kernel);
    rows.push_back({&choice.shape, static_cast<int>(kernel - dispatch.kernels_.begin())});
  }
  // The order in which the samples came must not matter.
  std::ranges::sort(rows, [](const Labelled& a, const Labelled& b) {
    return *a.shape != *b.shape ? *a.shape < *b.shape : a.kernel < b.kernel;
  });
  DispatchGrower{dispatch.nodes_, dispatch.kernels_.size()}.grow(std::move(rows), 0);
  return dispatch;
}

std::string_view Dispatch::choose(const Shape& shape) const {
  if (nodes_.empty()) return kernels_.empty() ? std::string_view{} : std::string_view(kernels_.front());
  const Node* node = nodes_.data();
  while (node->feature >= 0) {
    const auto value = static_cast<double>(feature_value(shape, static_cast<std::size_t>(node->feature)));
    node = &nodes_[static_cast<std::size_t>(value > node->threshold ? node->right : node->left)];
  }
  return kernels_[static_cast<std::size_t>(node->kernel)];
}

nlohmann::json Dispatch::to_json() const {
  nlohmann::json nodes = nlohmann::json::array();
  for (const Node& node : nodes_) {
    nodes.push_back({node.feature, node.threshold, node.left, node.right, node.kernel});
  }
  return {{"kernels", kernels_}, {"nodes", nodes}};
}

Result<Dispatch> Dispatch::from_json(const nlohmann::json& json) {
  return guarded([&] {
    Dispatch dispatch;
    const nlohmann::json& kernels = member(json, "kernels");
    require(kernels.is_array() && !kernels.empty() &&
                std::ranges::all_of(kernels, [](const nlohmann::json& name) { return name.is_string(); }),
            "\"kernels\" of a dispatch is not a list of names");
    dispatch.kernels_ = kernels.get<std::vector<std::string>>();
    const nlohmann::json& nodes = member(json, "nodes");
    require(nodes.is_array(), "\"nodes\" of a dispatch is not an array");
    require(dispatch.kernels_.size() == 1 || !nodes.empty(), "a dispatch of several kernels without a tree");
    const auto count = static_cast<int>(nodes.size());
    for (int i = 0; i < count; ++i) {
      const nlohmann::json& row = nodes[static_cast<std::size_t>(i)];
      require(row.is_array() && row.size() == 5 &&
                  std::ranges::all_of(row, [](const nlohmann::json& value) { return value.is_number(); }),
              "a node of a dispatch is not five numbers");
      const Node node{row[0].get<int>(), row[1].get<double>(), row[2].get<int>(), row[3].get<int>(), row[4].get<int>()};
      require(node.feature < static_cast<int>(2 * kMaxFields), "a node of a dispatch asks for an unknown feature");
      require(node.kernel >= 0 && node.kernel < static_cast<int>(dispatch.kernels_.size()),
              "a node of a dispatch names an unknown kernel");
      // Children lie behind their parent, so that every walk ends.
      require(node.feature < 0 || (node.left > i && node.right > i && node.left < count && node.right < count),
              "a node of a dispatch has a child that is not there");
      dispatch.nodes_.push_back(node);
    }
    return dispatch;
  });
}

}  // namespace roofcal
