#include "calibrate/featurizer.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/moe.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "tests/calibrate/synthetic.h"

namespace roofcal {
namespace {

GpuSpec gpu() {
  GpuSpec spec = test::synthetic_gpu();
  spec.nvlink_bandwidth = BytesPerSecond(450e9);
  spec.peaks[static_cast<std::size_t>(Rate::fp8)] = FlopsPerSecond(2e15);
  return spec;
}

// Attributes by their fallbacks; those without one as given here.
Attributes attributes_of(const Operator& op) {
  const Attributes given{{"collective", "all_reduce"}, {"ranks", "8"}};
  Attributes attributes;
  for (const AttributeField& attribute : op.attributes()) {
    std::string value(attribute.fallback);
    if (value.starts_with('=')) value = attributes.find(std::string_view(value).substr(1))->second;
    attributes.emplace(attribute.name, value.empty() ? given.find(attribute.name)->second : value);
  }
  return attributes;
}

struct Row {
  std::vector<double> columns, features;
};

Row evaluate(const Featurizer& featurizer, const Shape& shape) {
  Row row{std::vector<double>(featurizer.column_names().size(), NAN),
          std::vector<double>(featurizer.feature_names().size(), NAN)};
  featurizer.evaluate(shape, row.columns, row.features);
  return row;
}

double column(const Featurizer& featurizer, const Row& row, std::string_view name) {
  for (std::size_t i = 0; i < row.columns.size(); ++i) {
    if (featurizer.column_names()[i] == name) return row.columns[i];
  }
  ADD_FAILURE() << "no column " << name;
  return NAN;
}

// A legal shape: each size log-uniform over its domain (of which the ends come up often), mended where sizes have to
// divide one another. Experts stay few enough to simulate.
Shape arbitrary_shape(const Operator& op) {
  Shape shape(op.fields().size());
  for (std::size_t i = 0; i < op.fields().size(); ++i) {
    const Field& field = op.fields()[i];
    const std::int64_t max =
        field.name == "experts" || field.name == "topk" || field.name == "tp" || field.name == "ep" ? 256 : field.max;
    const int bits = static_cast<int>(std::log2(static_cast<double>(max)));
    const std::int64_t power = std::int64_t{1} << *rc::gen::inRange(0, bits + 1);
    const std::int64_t any = *rc::gen::inRange<std::int64_t>(field.min, power + 1);
    shape[i] = *rc::gen::element(field.min, std::max(field.min, any), std::max(field.min, power), max);
  }
  if (op.family() == "attention") {
    shape[2] = shape[3] * std::max<std::int64_t>(1, std::min<std::int64_t>(shape[2] / shape[3], 4096 / shape[3]));
  }
  if (op.name() == "moe") {
    const auto at = [&shape](MoeField field) -> std::int64_t& { return shape[static_cast<std::size_t>(field)]; };
    at(MoeField::experts) = std::max<std::int64_t>(1, at(MoeField::experts) / at(MoeField::ep)) * at(MoeField::ep);
    at(MoeField::topk) = std::min(at(MoeField::topk), at(MoeField::experts));
    at(MoeField::inter) = std::max<std::int64_t>(1, at(MoeField::inter) / at(MoeField::tp)) * at(MoeField::tp);
  }
  return shape;
}

class EveryFeaturizer : public testing::TestWithParam<const Operator*> {};

TEST_P(EveryFeaturizer, NamesItsColumnsAndFeaturesApart) {
  const auto featurizer = make_featurizer(*GetParam(), gpu(), attributes_of(*GetParam()));
  ASSERT_NE(featurizer, nullptr);
  EXPECT_EQ(featurizer->column_names().front(), "launch");
  EXPECT_LE(featurizer->feature_names().size(), 63U);
  for (const auto names : {featurizer->column_names(), featurizer->feature_names()}) {
    EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(), names.size());
    for (const std::string_view name : names) EXPECT_FALSE(name.empty());
  }
  const std::set<std::string_view> features(featurizer->feature_names().begin(), featurizer->feature_names().end());
  for (const auto& [feature, length] : featurizer->hints().smooth) EXPECT_TRUE(features.contains(feature)) << feature;
  for (const std::string_view feature : featurizer->hints().spread) EXPECT_TRUE(features.contains(feature)) << feature;
  EXPECT_LT(featurizer->hints().size_field, GetParam()->fields().size());
}

TEST_P(EveryFeaturizer, IsFiniteOnEveryLegalShape) {
  const Operator& op = *GetParam();
  const Attributes attributes = attributes_of(op);
  const auto featurizer = make_featurizer(op, gpu(), attributes);
  EXPECT_TRUE(rc::check([&] {
    const Shape shape = arbitrary_shape(op);
    RC_PRE(op.check(attributes, shape).ok());
    const Row row = evaluate(*featurizer, shape);
    for (std::size_t i = 0; i < row.columns.size(); ++i) {
      if (!std::isfinite(row.columns[i]) || row.columns[i] < 0.0) RC_LOG() << featurizer->column_names()[i];
      RC_ASSERT(std::isfinite(row.columns[i]) && row.columns[i] >= 0.0);
    }
    for (std::size_t i = 0; i < row.features.size(); ++i) {
      if (!(std::abs(row.features[i]) <= 200.0)) RC_LOG() << featurizer->feature_names()[i];
      RC_ASSERT(std::abs(row.features[i]) <= 200.0);  // logs and shares, NaN excluded
    }
    RC_ASSERT(evaluate(*featurizer, shape).columns == row.columns);
  }));
}

TEST_P(EveryFeaturizer, IsAbsentWhereTheGpuLacksAFigure) {
  EXPECT_EQ(make_featurizer(*GetParam(), GpuSpec{}, attributes_of(*GetParam())), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Operators, EveryFeaturizer, testing::ValuesIn(all_operators().begin(), all_operators().end()),
                         [](const auto& instance) { return std::string(instance.param->name()); });

// Columns that measure work may not fall when a call does more of the same.
void expect_growth(std::string_view op_name, const Shape& small, const Shape& large,
                   const std::vector<std::string_view>& names) {
  const Operator& op = *find_operator(op_name);
  const auto featurizer = make_featurizer(op, gpu(), attributes_of(op));
  const Row less = evaluate(*featurizer, small);
  const Row more = evaluate(*featurizer, large);
  for (const std::string_view name : names) {
    EXPECT_LE(column(*featurizer, less, name), column(*featurizer, more, name)) << op_name << " " << name;
  }
}

TEST(Featurizers, ColumnsGrowWithTheBatch) {
  for (std::int64_t batch = 1; batch < 4096; batch *= 2) {
    expect_growth("context_attention", Shape{batch, 1000, 32, 8, 128, 0, 0}, Shape{2 * batch, 1000, 32, 8, 128, 0, 0},
                  {"memory", "l2", "compute", "padded_128", "critical", "tiles", "padded_64", "wave_64", "wave_128"});
    expect_growth("generation_attention", Shape{batch, 5000, 32, 8, 128, 0}, Shape{2 * batch, 5000, 32, 8, 128, 0},
                  {"l2", "beyond_l2", "compute", "padded_16", "pair_waves", "queries"});
    expect_growth("context_mla", Shape{batch, 1000, 16, 0}, Shape{2 * batch, 1000, 16, 0},
                  {"memory", "compute", "padded_128", "wave_64", "wave_128"});
    expect_growth("generation_mla", Shape{batch, 5000, 16}, Shape{2 * batch, 5000, 16},
                  {"l2", "beyond_l2", "compute", "padded_64", "rereads"});
    expect_growth("moe", Shape{batch, 4096, 1024, 64, 4, 1, 4, 1200}, Shape{64 * batch, 4096, 1024, 64, 4, 1, 4, 1200},
                  {"weights", "activations", "compute", "padded_16", "padded_128", "wave_64", "piled_compute"});
    expect_growth("collective", Shape{batch}, Shape{2 * batch}, {"to_4KiB", "to_32KiB", "beyond_1GiB"});
  }
}

TEST(Featurizers, TheRooflineColumnsAreTheWorkAtThePeaks) {
  const Operator& op = *find_operator("context_attention");
  const Attributes attributes = attributes_of(op);
  const auto featurizer = make_featurizer(op, gpu(), attributes);
  for (const Shape& shape : {Shape{2, 1000, 32, 8, 128, 0, 0}, Shape{1, 77, 8, 8, 64, 20, 5}}) {
    const Row row = evaluate(*featurizer, shape);
    const Work work = op.work(attributes, shape);
    EXPECT_DOUBLE_EQ(column(*featurizer, row, "compute"), work.flops / gpu().peak(Rate::bfloat16) / Seconds(1.0));
    EXPECT_DOUBLE_EQ(column(*featurizer, row, "memory"), work.bytes() / gpu().memory_bandwidth / Seconds(1.0));
  }
}

TEST(Featurizers, AWindowThatHidesNothingCostsWhatNoneCosts) {
  const Operator& op = *find_operator("context_attention");
  const auto featurizer = make_featurizer(op, gpu(), attributes_of(op));
  EXPECT_EQ(evaluate(*featurizer, Shape{2, 100, 32, 8, 128, 4096, 0}).columns,
            evaluate(*featurizer, Shape{2, 100, 32, 8, 128, 0, 0}).columns);
  const Operator& decode = *find_operator("generation_attention");
  const auto decoder = make_featurizer(decode, gpu(), attributes_of(decode));
  EXPECT_EQ(evaluate(*decoder, Shape{2, 100, 32, 8, 128, 4096}).columns,
            evaluate(*decoder, Shape{2, 100, 32, 8, 128, 0}).columns);
}

TEST(Featurizers, DecodeKernelsSplitByQueriesAKvHead) {
  const Operator& op = *find_operator("generation_attention");
  const auto featurizer = make_featurizer(op, gpu(), attributes_of(op));
  EXPECT_EQ(featurizer->class_split(Shape{1, 100, 8, 8, 128, 0}), 0);
  EXPECT_EQ(featurizer->class_split(Shape{1, 100, 32, 1, 128, 0}), 1);
  EXPECT_EQ(featurizer->class_split(Shape{1, 100, 64, 1, 128, 0}), 2);
}

TEST(Featurizers, CollectivePiecesAddUpToTheLinkTime) {
  const Operator& op = *find_operator("collective");
  const auto featurizer = make_featurizer(op, gpu(), attributes_of(op));
  const double bytes = 3e9;
  const Row row = evaluate(*featurizer, Shape{static_cast<std::int64_t>(bytes)});
  double sum = -1.0;  // the launch column
  for (const double piece : row.columns) sum += piece;
  EXPECT_NEAR(sum, 1.75 * bytes / 450e9, 1e-12);
}

}  // namespace
}  // namespace roofcal
