#include "calibrate/tree_ensemble.h"

#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "calibrate/random.h"
#include "calibrate/tree_training.h"

namespace roofcal {
namespace {

struct Data {
  Matrix features;
  Vector targets;
};

Data random_data(Eigen::Index rows, std::uint64_t seed) {
  Random random(seed);
  Data data{Matrix(rows, 5), Vector(rows)};
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index d = 0; d < 5; ++d) {
      data.features(i, d) = random.uniform();
    }
    const double target = (data.features(i, 0) > 0.5 ? 0.3 : -0.1) + 0.2 * data.features(i, 1) * data.features(i, 2);
    data.targets[i] = std::round(target * 4096.0) / 4096.0;  // the grid that training rounds targets to
  }
  return data;
}

TreeOptions small_options() {
  TreeOptions options;
  options.rounds = 41;  // odd: the vector path has a tree left over
  options.max_depth = 6;
  return options;
}

// XGBoost's own prediction of the ensemble that train_trees freezes.
std::vector<double> xgboost_prediction(const TrainingRows& rows, const Vector& targets, const TreeOptions& options) {
  DMatrixHandle data = nullptr;
  XGDMatrixCreateFromMat(rows.bins.data(), rows.rows, rows.features, -1.0F, &data);
  std::vector<float> labels(targets.data(), targets.data() + targets.size());
  XGDMatrixSetFloatInfo(data, "label", labels.data(), labels.size());
  BoosterHandle booster = nullptr;
  XGBoosterCreate(&data, 1, &booster);
  const auto set = [&](const char* name, const std::string& value) { XGBoosterSetParam(booster, name, value.c_str()); };
  set("base_score", "0");
  set("tree_method", "hist");
  set("nthread", "1");
  set("max_bin", "256");
  set("verbosity", "0");
  set("max_depth", std::to_string(options.max_depth));
  set("eta", std::to_string(options.eta));
  set("subsample", std::to_string(options.subsample));
  set("colsample_bytree", std::to_string(options.colsample_bytree));
  set("min_child_weight", std::to_string(options.min_child_weight));
  set("lambda", std::to_string(options.lambda));
  set("seed", std::to_string(options.seed));
  for (int round = 0; round < options.rounds; ++round) {
    XGBoosterUpdateOneIter(booster, round, data);
  }
  bst_ulong count = 0;
  const float* values = nullptr;
  XGBoosterPredict(booster, data, 0, 0, 0, &count, &values);
  std::vector<double> prediction(values, values + count);
  XGBoosterFree(booster);
  XGDMatrixFree(data);
  return prediction;
}

TEST(TreeEnsemble, PredictsWhatXgboostPredicts) {
  const Data data = random_data(1003, 1);
  const FeatureBins bins = FeatureBins::learn(data.features, 255);
  const TrainingRows rows = binned_for_training(bins, data.features);
  const TreeOptions options = small_options();
  const auto trees = train_trees(rows, data.targets, {}, {}, options);
  ASSERT_TRUE(trees.ok()) << trees.error().message;
  std::vector<double> ours(rows.rows);
  trees->predict(rows.for_prediction(), ours);
  const auto theirs = xgboost_prediction(rows, data.targets, options);
  ASSERT_EQ(theirs.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_NEAR(ours[i], theirs[i], 41 * 0.5 * options.leaf_step + 1e-5);
  }
}

TEST(TreeEnsemble, VectorAndScalarPathsGiveTheSameBits) {
  if (!TreeEnsemble::has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  const Data data = random_data(333, 1);
  const FeatureBins bins = FeatureBins::learn(data.features, 200);
  const TrainingRows rows = binned_for_training(bins, data.features);
  const auto trees = train_trees(rows, data.targets, {}, {}, small_options());
  ASSERT_TRUE(trees.ok());
  std::vector<double> scalar(rows.rows);
  std::vector<double> vector(rows.rows);
  trees->predict(rows.for_prediction(), scalar, TreeEnsemble::Path::scalar);
  trees->predict(rows.for_prediction(), vector, TreeEnsemble::Path::avx2);
  EXPECT_EQ(scalar, vector);
}

TEST(TreeEnsemble, TrainingTwiceGivesTheSameTrees) {
  const Data data = random_data(500, 1);
  const FeatureBins bins = FeatureBins::learn(data.features, 255);
  const TrainingRows rows = binned_for_training(bins, data.features);
  const auto first = train_trees(rows, data.targets, {}, {}, small_options());
  const auto second = train_trees(rows, data.targets, {}, {}, small_options());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->to_json(), second->to_json());
}

TEST(TreeEnsemble, ComesBackFromJsonAsItWas) {
  const Data data = random_data(500, 1);
  const FeatureBins bins = FeatureBins::learn(data.features, 255);
  const TrainingRows rows = binned_for_training(bins, data.features);
  const auto trees = train_trees(rows, data.targets, {}, {}, small_options());
  ASSERT_TRUE(trees.ok());
  const auto back = TreeEnsemble::from_json(trees->to_json(), FeatureBins::from_json(bins.to_json()));
  EXPECT_EQ(back.to_json(), trees->to_json());
  std::vector<double> before(rows.rows);
  std::vector<double> after(rows.rows);
  trees->predict(rows.for_prediction(), before);
  back.predict(rows.for_prediction(), after);
  EXPECT_EQ(before, after);
}

TEST(TreeEnsemble, RefusesDamagedTrees) {
  const Data data = random_data(200, 1);
  const FeatureBins bins = FeatureBins::learn(data.features, 16);
  const TrainingRows rows = binned_for_training(bins, data.features);
  const auto trees = train_trees(rows, data.targets, {}, {}, small_options());
  ASSERT_TRUE(trees.ok());
  const auto whole = trees->to_json();
  const auto damaged = [&](auto&& change) {
    auto json = whole;
    change(json);
    return json;
  };
  const auto refuses = [&](const nlohmann::json& json) {
    EXPECT_THROW((void)TreeEnsemble::from_json(json, bins), std::invalid_argument);
  };
  refuses(damaged([](auto& json) { json["nodes"] = 1 << 20; }));
  refuses(damaged([](auto& json) { json["leaf_step"] = 0; }));
  refuses(damaged([](auto& json) { json["splits"].template get_ref<std::string&>()[0] = '/'; }));  // feature 62
  refuses(damaged([](auto& json) { json["thresholds"].template get_ref<std::string&>()[0] = '9'; }));
  refuses(damaged([](auto& json) { json["leaves"].template get_ref<std::string&>()[0] = '?'; }));
  refuses(damaged([](auto& json) { json["splits"].template get_ref<std::string&>().back() = 'B'; }));  // no children
  refuses(damaged([](auto& json) { json.erase("leaves"); }));
}

TEST(FeatureBins, CutHalfWayBetweenFewValues) {
  Matrix features(4, 1);
  features << 1.0, 2.0, 2.0, 5.0;
  const FeatureBins bins = FeatureBins::learn(features, 255);
  EXPECT_EQ(bins.bins(0), 3U);
  EXPECT_EQ(bins.bin(0, 1.49F), 0U);
  EXPECT_EQ(bins.bin(0, 1.51F), 1U);
  EXPECT_EQ(bins.bin(0, 3.51F), 2U);
  EXPECT_EQ(bins.bin(0, -1e30F), 0U);
  EXPECT_EQ(bins.bin(0, 1e30F), 2U);
}

TEST(FeatureBins, LastBitsDoNotMove) {
  const Data data = random_data(3000, 1);
  Matrix nudged = data.features;
  for (Eigen::Index i = 0; i < nudged.size(); ++i) {
    nudged.data()[i] = std::nextafter(nudged.data()[i], 2.0);
  }
  EXPECT_EQ(FeatureBins::learn(data.features, 255).to_json(), FeatureBins::learn(nudged, 255).to_json());
}

}  // namespace
}  // namespace roofcal
