#include "calibrate/kernel_split.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "calibrate/fit.h"
#include "core/operator.h"
#include "tests/calibrate/synthetic.h"

namespace roofcal {
namespace {

ClassKey decode_key() {
  ClassKey key = test::synthetic_key();
  key.op = "generation_attention";
  key.attributes = {{"dtype", "bfloat16"}, {"kv-dtype", "bfloat16"}};
  return key;
}

// Decode on a grid with groups of 1, 8 and 64 queries a kv head; `slow` multiplies what the last group takes.
std::vector<Sample> decode_samples(double slow) {
  Random random(3);
  std::vector<Sample> samples;
  for (const std::int64_t group : {1, 8, 64}) {
    for (const std::int64_t batch : {1, 2, 4, 8, 16, 32, 64}) {
      for (const std::int64_t length : {128, 512, 1024, 4096, 8192, 32768}) {
        for (const std::int64_t kv_heads : {1, 2, 8}) {
          Sample sample;
          sample.shape = Shape{batch, length, group * kv_heads, kv_heads, 128, 0};
          const Work work = find_operator("generation_attention")->work(decode_key().attributes, sample.shape);
          const double time = 4e-6 + 1.3 * work.bytes().value() / 3e12;
          sample.time = Seconds((group == 64 ? slow * time : time) * (1.0 + 0.02 * random.uniform()));
          samples.push_back(sample);
        }
      }
    }
  }
  return samples;
}

ClassModel fit(std::span<const Sample> samples, std::size_t points) {
  FitOptions options;
  options.points = points;
  auto model = fit_class(decode_key(), test::synthetic_gpu(), samples, options);
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
  return *std::move(model);
}

TEST(KernelSplit, ALibraryWithOneKernelKeepsOneModel) {
  const ClassModel model = fit(decode_samples(1.0), 60);
  EXPECT_FALSE(model.to_json().contains("parts"));
  EXPECT_EQ(model.figures().points, 60U);
}

TEST(KernelSplit, HiddenKernelsGetModelsOfTheirOwn) {
  const auto samples = decode_samples(15.0);
  const ClassModel model = fit(samples, 60);
  const nlohmann::json json = model.to_json();
  ASSERT_TRUE(json.contains("parts"));
  EXPECT_EQ(json["parts"].size(), 3U);
  EXPECT_EQ(model.figures().points, 180U);
  EXPECT_EQ(model.figures().rows, samples.size());
  // Never smoothed across: 32 and 64 queries a kv head lie a factor apart.
  const double below = model.predict(Shape{8, 4096, 32, 1, 128, 0}).time.value();
  const double above = model.predict(Shape{8, 4096, 64, 1, 128, 0}).time.value();
  EXPECT_GT(above / below, 8.0);
  // Neighbours run the same kernel; ranges are those of all kernels together.
  for (const Neighbour& neighbour : model.nearest(Shape{8, 4096, 64, 1, 128, 0}, 10)) {
    EXPECT_EQ(neighbour.shape[2] / neighbour.shape[3], 64);
  }
  EXPECT_EQ(model.calibrated_range(2).min, 1);
  EXPECT_EQ(model.calibrated_range(2).max, 512);
}

TEST(KernelSplit, PredictsManyShapesAsItPredictsEach) {
  const auto samples = decode_samples(15.0);
  const ClassModel model = fit(samples, 30);
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < samples.size(); i += 7) {
    shapes.push_back(samples[(i * 31) % samples.size()].shape);
  }
  std::vector<Estimate> estimates(shapes.size());
  model.predict(shapes, estimates);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(estimates[i].time, model.predict(shapes[i]).time);
  }
}

TEST(KernelSplit, SurvivesTheRoundTripAndRefusesBrokenParts) {
  const ClassModel model = fit(decode_samples(15.0), 60);
  const nlohmann::json json = model.to_json();
  const auto again = ClassModel::from_json(json, test::synthetic_gpu());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->to_json(), json);
  auto disordered = json;
  std::swap(disordered["parts"][0], disordered["parts"][1]);
  EXPECT_FALSE(ClassModel::from_json(disordered, test::synthetic_gpu()).ok());
  auto foreign = json;
  foreign["parts"][1]["model"]["key"]["kernel"] = "another";
  EXPECT_FALSE(ClassModel::from_json(foreign, test::synthetic_gpu()).ok());
}

TEST(KernelSplit, AKernelThatWasNotCalibratedIsOutside) {
  std::vector<Sample> samples = decode_samples(15.0);
  std::erase_if(samples, [](const Sample& sample) { return sample.shape[2] / sample.shape[3] == 1; });
  const ClassModel model = fit(samples, 60);
  ASSERT_TRUE(model.to_json().contains("parts"));
  EXPECT_EQ(model.predict(Shape{8, 4096, 8, 8, 128, 0}).region, Region::outside);
}

TEST(HardBound, GivesWayOnlyAsFarAsMeasurementsBeatIt) {
  std::vector<Sample> samples = decode_samples(1.0);
  EXPECT_EQ(fit(samples, 30).figures().least_over_bound, 1.0);
  const GpuSpec gpu = test::synthetic_gpu();
  const auto bound = [&](const Shape& shape) {
    const Work work = find_operator("generation_attention")->work(decode_key().attributes, shape);
    return roofline(gpu, work, decode_key().cache).time;
  };
  for (Sample& sample : samples) {
    sample.time = std::max(0.8 * bound(sample.shape), Seconds(4e-6));
  }
  const ClassModel model = fit(samples, 500);
  EXPECT_NEAR(model.figures().least_over_bound, 0.8, 1e-9);
  for (const Sample& sample : samples) {
    EXPECT_GE(model.predict(sample.shape).lo.value(), 0.8 * bound(sample.shape).value() * (1.0 - 1e-9));
  }
}

TEST(SpreadOfRepeats, IsThatOfTheLogarithms) {
  std::vector<Sample> samples(4);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].shape = Shape{static_cast<std::int64_t>(1 + i / 2)};
    samples[i].time = Seconds(i % 2 == 0 ? 1e-5 : 1e-5 * std::exp(0.2));
  }
  EXPECT_NEAR(spread_of_repeats(samples), 0.2 / std::sqrt(2.0), 1e-9);
  samples.resize(1);
  EXPECT_EQ(spread_of_repeats(samples), 0.0);
}

}  // namespace
}  // namespace roofcal
