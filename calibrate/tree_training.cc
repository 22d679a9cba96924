#include "calibrate/tree_training.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace roofcal {
namespace {

constexpr double kTargetGrid = 4096.0;

// XGBoost reports failures by status; inside this file they travel as exceptions up to train_trees.
void check(int status) {
  if (status != 0) throw std::runtime_error(XGBGetLastError());
}

class DMatrix {
 public:
  DMatrix(const std::vector<float>& values, std::size_t rows, std::size_t features) {
    check(XGDMatrixCreateFromMat_omp(values.data(), rows, features, -1.0F, &handle_, 1));
  }
  ~DMatrix() { XGDMatrixFree(handle_); }
  DMatrix(const DMatrix&) = delete;
  DMatrix& operator=(const DMatrix&) = delete;

  void set(const char* field, const std::vector<float>& values) {
    check(XGDMatrixSetFloatInfo(handle_, field, values.data(), values.size()));
  }
  [[nodiscard]] DMatrixHandle handle() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

class Booster {
 public:
  explicit Booster(const DMatrix& data) {
    const DMatrixHandle handle = data.handle();
    check(XGBoosterCreate(&handle, 1, &handle_));
  }
  ~Booster() { XGBoosterFree(handle_); }
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;

  void set(const char* name, const std::string& value) { check(XGBoosterSetParam(handle_, name, value.c_str())); }
  void update(int round, const DMatrix& data) { check(XGBoosterUpdateOneIter(handle_, round, data.handle())); }
  [[nodiscard]] std::vector<std::string> dump() {
    bst_ulong count = 0;
    const char** texts = nullptr;
    check(XGBoosterDumpModelEx(handle_, "", 0, "json", &count, &texts));
    return {texts, texts + count};
  }

 private:
  BoosterHandle handle_ = nullptr;
};

// One tree of XGBoost's JSON dump: {"nodeid", "split": "f3", "split_condition", "yes", "no", "children"} or {"leaf"}.
std::size_t read_node(const nlohmann::json& json, std::vector<TreeNode>& tree) {
  const std::size_t index = tree.size();
  tree.emplace_back();
  if (json.contains("leaf")) {
    tree[index].value = json["leaf"].get<double>();
    return index;
  }
  const auto& children = json.at("children");
  const bool first_is_yes = children.at(0).at("nodeid") == json.at("yes");
  tree[index].leaf = false;
  tree[index].feature = static_cast<std::uint32_t>(std::stoul(json.at("split").get<std::string>().substr(1)));
  // Yes means bin < condition; bins are whole numbers.
  const double condition = json.at("split_condition").get<double>();
  tree[index].threshold = static_cast<std::uint32_t>(std::max(0.0, std::ceil(condition) - 1.0));
  const std::size_t yes = read_node(children.at(first_is_yes ? 0 : 1), tree);
  const std::size_t no = read_node(children.at(first_is_yes ? 1 : 0), tree);
  tree[index].left = yes;
  tree[index].right = no;
  return index;
}

void configure(Booster& booster, const TreeOptions& options) {
  booster.set("objective", "reg:squarederror");
  booster.set("base_score", "0");
  booster.set("tree_method", "hist");
  booster.set("nthread", "1");
  booster.set("verbosity", "0");
  booster.set("max_bin", std::to_string(FeatureBins::kMaxBins + 1));
  booster.set("max_depth", std::to_string(options.max_depth));
  if (options.max_leaves > 0) {
    booster.set("grow_policy", "lossguide");
    booster.set("max_leaves", std::to_string(options.max_leaves));
  }
  booster.set("eta", fmt::format("{}", options.eta));
  booster.set("subsample", fmt::format("{}", options.subsample));
  booster.set("colsample_bytree", fmt::format("{}", options.colsample_bytree));
  booster.set("colsample_bynode", fmt::format("{}", options.colsample_bynode));
  booster.set("min_child_weight", fmt::format("{}", options.min_child_weight));
  booster.set("lambda", fmt::format("{}", options.lambda));
  booster.set("seed", std::to_string(options.seed % 2147483647U));
}

}  // namespace

TrainingRows binned_for_training(const FeatureBins& bins, const Matrix& features) {
  TrainingRows rows;
  rows.rows = static_cast<std::size_t>(features.rows());
  rows.features = bins.features();
  rows.bins.reserve(rows.rows * rows.features);
  for (Eigen::Index row = 0; row < features.rows(); ++row) {
    for (std::size_t feature = 0; feature < rows.features; ++feature) {
      const auto value = static_cast<float>(features(row, static_cast<Eigen::Index>(feature)));
      rows.bins.push_back(static_cast<float>(bins.bin(feature, value)));
    }
  }
  return rows;
}

BinnedRows TrainingRows::for_prediction() const {
  BinnedRows binned;
  binned.rows = rows;
  binned.features = features;
  binned.bins.assign(binned.blocks() * features * kLanes, 0);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t feature = 0; feature < features; ++feature) {
      binned.bins[(row / kLanes * features + feature) * kLanes + row % kLanes] =
          static_cast<std::uint32_t>(bins[row * features + feature]);
    }
  }
  return binned;
}

Result<TreeEnsemble> train_trees(const TrainingRows& rows, const Vector& targets, std::span<const double> weights,
                                 std::span<const std::size_t> subset, const TreeOptions& options) {
  std::vector<std::size_t> every;
  if (subset.empty()) {
    every.resize(rows.rows);
    std::iota(every.begin(), every.end(), std::size_t{0});
    subset = every;
  }
  std::vector<float> values;
  std::vector<float> labels;
  std::vector<float> chosen_weights;
  values.reserve(subset.size() * rows.features);
  for (const std::size_t row : subset) {
    const auto from = rows.bins.begin() + static_cast<std::ptrdiff_t>(row * rows.features);
    values.insert(values.end(), from, from + static_cast<std::ptrdiff_t>(rows.features));
    labels.push_back(
        static_cast<float>(std::round(targets[static_cast<Eigen::Index>(row)] * kTargetGrid) / kTargetGrid));
    if (!weights.empty()) chosen_weights.push_back(static_cast<float>(weights[row]));
  }
  try {
    DMatrix data(values, subset.size(), rows.features);
    data.set("label", labels);
    if (!weights.empty()) data.set("weight", chosen_weights);
    Booster booster(data);
    configure(booster, options);
    for (int round = 0; round < options.rounds; ++round) {
      booster.update(round, data);
    }
    std::vector<std::vector<TreeNode>> trees;
    for (const std::string& text : booster.dump()) {
      read_node(nlohmann::json::parse(text), trees.emplace_back());
    }
    return TreeEnsemble(trees, options.leaf_step);
  } catch (const std::exception& error) {
    return Error{ErrorCode::bad_data,
                 fmt::format("XGBoost failed to train trees on {} rows: {}", subset.size(), error.what())};
  }
}

}  // namespace roofcal
