// Steps put together from held-out measurements: their interval holds as often as it says, or nearly. The measurements
// are no part of this repository: they are read from $ROOFCAL_DATA.
#include "benchmarks/replay/replay.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "predictor/step/step_interval.h"
#include "tests/predictor/models/data_path.h"

namespace roofcal::replay {
namespace {

TEST(Replay, StepsAreCoveredAsOftenAsTheySay) {
  const std::filesystem::path data = models::data_path("silicon/h200_sxm");
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no measurements at " << data << ": set ROOFCAL_DATA";
  const auto catalogue = GpuCatalogue::load(ROOFCAL_CATALOGUE);
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  const auto operators = load(data.string(), *catalogue, "h200_sxm", "trtllm", 300);
  ASSERT_TRUE(operators) << operators.error().message;
  double sum = 0.0;
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    const Coverage coverage = replay(*operators, kind, 1000, kClassCorrelation, 7);
    ASSERT_EQ(coverage.steps, 1000) << to_string(kind);
    // docs/models.md has all GPUs: single kinds of steps reach from 87 to 99 %.
    EXPECT_GT(coverage.covered, 0.85) << to_string(kind);
    EXPECT_LT(coverage.covered, 0.97) << to_string(kind);
    EXPECT_LT(coverage.halfwidth, 0.2) << to_string(kind);
    sum += coverage.covered;
  }
  EXPECT_GT(sum / kKinds, 0.85);
  EXPECT_LT(sum / kKinds, 0.95);
}

}  // namespace
}  // namespace roofcal::replay
