// What a step looks like as a table: made of figures that no calibration changes.
#include "cli/step_report.h"

#include <gtest/gtest.h>

#include <sstream>

#include "report/write.h"

namespace roofcal::cli {
namespace {

class StepReport : public ::testing::Test {
 protected:
  StepReport() {
    product_.name = "qkv projection";
    product_.op = "gemm";
    product_.attributes = {{"dtype", "bfloat16"}};
    product_.sizes = GemmSizes{Rows::tokens, 6144, 4096};
    product_.count = 32.0;
    sampling_.name = "sampling";
    sampling_.op = "sampling";
    sampling_.sizes = BoundSizes{};
  }

  [[nodiscard]] ToldStep step() const {
    ToldStep out;
    out.model.name = "some/Model";
    out.gpu.name = "some_gpu";
    out.spread = {2, 1, 1, 1};
    out.asked.tokens.decode = {16, 1000, 0};
    out.asked.text = "decode of 16 sequences at 1000 tokens of context";
    OperatorTime product{&product_, 0, 32.0, {}};
    product.each.time = Seconds(20e-6);
    product.each.lo = Seconds(19e-6);
    product.each.hi = Seconds(22e-6);
    product.each.roofline = Seconds(10e-6);
    product.each.bound = Limit::memory;
    product.each.provenance = Provenance::interpolated;
    OperatorTime sampling{&sampling_, 1, 1.0, {}};
    sampling.each.time = Seconds(4e-6);
    sampling.each.lo = Seconds(2e-6);
    sampling.each.hi = Seconds(8e-6);
    sampling.each.bound = Limit::latency;
    out.lines = {product, sampling};
    out.time.time = Seconds(644e-6);
    out.time.lo = Seconds(612e-6);
    out.time.hi = Seconds(708e-6);
    out.time.roofline = Seconds(320e-6);
    out.time.bound = Limit::memory;
    out.time.provenance = Provenance::interpolated;
    out.memory.capacity = Bytes(80e9);
    out.memory.usable = Bytes(72e9);
    out.memory.weights = Bytes(8.0 * 1024 * 1024 * 1024);
    out.memory.fits = true;
    out.memory.cache_tokens = 100000;
    out.memory.cache_tokens_left = 84000;
    return out;
  }

  LoweredOperator product_, sampling_;
};

std::string written(const report::Report& report, report::Format format) {
  std::ostringstream out;
  report::write(report, format, out);
  return out.str();
}

TEST_F(StepReport, IsACardAboveItsOperators) {
  EXPECT_EQ(written(step_report({step()}, "decode"), report::Format::table), R"(CARD)");
}

TEST_F(StepReport, HasARowAnOperatorInFlatFormats) {
  EXPECT_EQ(written(operator_rows({step()}), report::Format::csv), R"(CSV)");
}

}  // namespace
}  // namespace roofcal::cli
