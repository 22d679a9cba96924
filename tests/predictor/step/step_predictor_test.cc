// Steps on the built-in calibrations: what they must be whatever the calibrations say, and what limits them.
#include "predictor/step/step_predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "predictor/models/counts.h"
#include "predictor/step/memory_plan.h"
#include "predictor/step/runtime_formats.h"
#include "tests/predictor/step/fixtures.h"

namespace roofcal {
namespace {

class Steps : public ::testing::Test {
 protected:
  Steps()
      : gpus_(*GpuCatalogue::load(ROOFCAL_CATALOGUE)),
        library_(ROOFCAL_BUILTIN, gpus_, nullptr),
        predictor_(gpus_, library_) {}

  [[nodiscard]] Result<StepPredictor> steps(const std::string& model, const std::string& gpu, const Parallelism& spread,
                                            const std::string& framework = {}) const {
    StepQuestion question;
    question.gpu = gpu;
    question.framework = framework;
    return StepPredictor::make(predictor_, *gpus_.spec(gpu), described(model), spread, question);
  }

  [[nodiscard]] StepTime time(const std::string& model, const std::string& gpu, const Parallelism& spread,
                              const StepTokens& tokens, const std::string& framework = {}) const {
    auto predictor = steps(model, gpu, spread, framework);
    if (!predictor) {
      ADD_FAILURE() << predictor.error().message;
      return {};
    }
    const auto answer = predictor->evaluate(tokens);
    if (!answer) {
      ADD_FAILURE() << answer.error().message;
      return {};
    }
    return *answer;
  }

  const GpuCatalogue gpus_;
  const CalibrationLibrary library_;
  const Predictor predictor_;
};

StepTokens mixed(std::int64_t batch, std::int64_t context, std::int64_t chunk) {
  StepTokens tokens = decode(batch, context);
  tokens.prefill = {1, chunk, 0};
  return tokens;
}

struct Deployment {
  const char* model;
  const char* gpu;
  Parallelism spread;
};
const std::vector<Deployment> kDeployments{
    {"meta-llama/Llama-3.1-70B", "h200_sxm", {4, 1, 1, 1}}, {"Qwen/Qwen3-8B", "a100_sxm", {1, 1, 1, 1}},
    {"Qwen/Qwen3-32B", "h100_sxm", {2, 2, 1, 1}},           {"Qwen/Qwen3-235B-A22B", "h200_sxm", {8, 1, 8, 1}},
    {"deepseek-ai/DeepSeek-V3", "b200_sxm", {1, 1, 8, 8}},  {"deepseek-ai/DeepSeek-V3.2", "h200_sxm", {1, 1, 8, 8}},
    {"google/gemma-3-27b-it", "h100_sxm", {2, 1, 1, 1}},    {"openai/gpt-oss-120b", "h200_sxm", {1, 1, 1, 1}},
    {"Qwen/Qwen3.5-397B-A17B", "b200_sxm", {8, 1, 1, 1}},   {"zai-org/GLM-5", "b200_sxm", {8, 1, 1, 1}}};

// The bound by hand: weights that are read once from HBM, or the FLOPs at the datasheet's peak.
TEST_F(Steps, AreNeverBelowTheBound) {
  for (const Deployment& d : kDeployments) {
    auto predictor = steps(d.model, d.gpu, d.spread);
    ASSERT_TRUE(predictor) << d.model << ": " << predictor.error().message;
    for (const StepTokens& tokens :
         {decode(1, 100), decode(64, 4000), prefill(1, 8000), prefill(4, 1000, 3000), mixed(32, 2000, 1000)}) {
      std::vector<OperatorTime> lines;
      const auto step = predictor->evaluate(tokens, lines);
      ASSERT_TRUE(step) << d.model << ": " << step.error().message;
      Seconds sum{};
      Seconds bytes_or_flops{};
      for (const OperatorTime& line : lines) {
        sum += line.calls * line.each.time;
        EXPECT_GE(line.each.time, line.each.roofline) << d.model << ' ' << line.lowered->name;
        EXPECT_GE(line.each.time, line.each.lo) << d.model << ' ' << line.lowered->name;
        EXPECT_LE(line.each.time, line.each.hi) << d.model << ' ' << line.lowered->name;
        const auto work = work_of(*line.lowered, tokens);
        ASSERT_TRUE(work);
        const Seconds busy = work->flops / predictor->gpu().peak(work->rate);
        const Seconds fetch =
            line.lowered->op == "gemm" ? line.lowered->weight_bytes / predictor->gpu().memory_bandwidth : Seconds{};
        EXPECT_GE(line.each.time, std::max(busy, fetch)) << d.model << ' ' << line.lowered->name;
        bytes_or_flops += line.calls * std::max(busy, fetch);
      }
      EXPECT_DOUBLE_EQ(step->time.value(), sum.value());
      EXPECT_GE(step->roofline, bytes_or_flops * (1.0 - 1e-12)) << d.model;
      EXPECT_GE(step->time, step->roofline) << d.model;
      EXPECT_GE(step->lo, step->roofline) << d.model;
      EXPECT_LT(step->lo, step->time) << d.model;
      EXPECT_GT(step->hi, step->time) << d.model;
    }
  }
}

TEST_F(Steps, OfOneSequenceWaitForWeightsAndLongPromptsForArithmetic) {
  for (const Deployment& d : kDeployments) {
    auto predictor = steps(d.model, d.gpu, d.spread);
    ASSERT_TRUE(predictor) << predictor.error().message;
    // How much of the products' time their bound is, and which bound.
    const auto limits = [&](const StepTokens& tokens) {
      std::vector<OperatorTime> lines;
      EXPECT_TRUE(predictor->evaluate(tokens, lines));
      Seconds compute{};
      Seconds memory{};
      for (const OperatorTime& line : lines) {
        if (line.lowered->op != "gemm" && line.lowered->op != "moe") continue;
        const Work work = *work_of(*line.lowered, tokens);
        const Roofline bound = roofline(predictor->gpu(), work, CacheMode::cold);
        compute += line.calls * bound.compute;
        memory += line.calls * bound.memory;
      }
      return std::pair{compute, memory};
    };
    const auto one = limits(decode(1, 1000));
    EXPECT_GT(one.second, 20.0 * one.first) << d.model;
    const auto prompt = limits(prefill(2, 16000));
    EXPECT_GT(prompt.first, prompt.second) << d.model;
  }
  EXPECT_EQ(time("meta-llama/Llama-3.1-70B", "h200_sxm", {4, 1, 1, 1}, decode(1, 1000)).bound, Limit::memory);
  EXPECT_EQ(time("meta-llama/Llama-3.1-70B", "h200_sxm", {4, 1, 1, 1}, prefill(1, 16000)).bound, Limit::compute);
}

// Weights over the calibrated bandwidth, and the calibrated all-reduces, are what such a step cannot do without. The
// rest: products of one row that reach 0.6 to 0.8 of the bandwidth, launches, and attention kernels of 16 us.
TEST_F(Steps, Llama70BOnFourH200IsCloseToWeightsAndAllReduces) {
  const Parallelism spread{4, 1, 1, 1};
  auto predictor = steps("meta-llama/Llama-3.1-70B", "h200_sxm", spread);
  ASSERT_TRUE(predictor) << predictor.error().message;
  std::vector<OperatorTime> lines;
  const auto step = predictor->evaluate(decode(1, 1000), lines);
  ASSERT_TRUE(step) << step.error().message;
  const auto bandwidth = memory_bandwidth(predictor_, "h200_sxm");
  ASSERT_TRUE(bandwidth) << bandwidth.error().message;
  const models::ModelDescription model = described("meta-llama/Llama-3.1-70B");
  Seconds least = stage_weights(model, spread, 0) / bandwidth->value;
  for (const OperatorTime& line : lines) {
    if (line.lowered->name == "all-reduce") {
      EXPECT_EQ(line.each.provenance, Provenance::interpolated);
      least += line.calls * line.each.time;
    }
  }
  EXPECT_GT(step->time, least);
  EXPECT_LT(step->time, 1.4 * least);
}

TEST_F(Steps, MixedStepsCostLessThanTheirPartsAndMoreThanEither) {
  for (const Deployment& d : kDeployments) {
    auto predictor = steps(d.model, d.gpu, d.spread);
    ASSERT_TRUE(predictor) << predictor.error().message;
    for (const auto& [batch, chunk] : {std::pair<std::int64_t, std::int64_t>{8, 512}, {64, 2048}, {256, 256}}) {
      const auto both = predictor->evaluate(mixed(batch, 2000, chunk));
      const auto decoding = predictor->evaluate(decode(batch, 2000));
      const auto prompt = predictor->evaluate(prefill(1, chunk));
      ASSERT_TRUE(both && decoding && prompt);
      EXPECT_LT(both->time, decoding->time + prompt->time) << d.model << ' ' << batch << ' ' << chunk;
      EXPECT_GT(both->time, 0.95 * std::max(decoding->time, prompt->time)) << d.model << ' ' << batch << ' ' << chunk;
    }
  }
}

TEST_F(Steps, MoreWorkTakesLonger) {
  const Parallelism spread{4, 1, 1, 1};
  const char* model = "meta-llama/Llama-3.1-70B";
  EXPECT_LT(time(model, "h200_sxm", spread, decode(8, 1000)).time,
            time(model, "h200_sxm", spread, decode(8, 32000)).time);
  EXPECT_LT(time(model, "h200_sxm", spread, decode(8, 4000)).time,
            time(model, "h200_sxm", spread, decode(256, 4000)).time);
  EXPECT_LT(time(model, "h200_sxm", spread, prefill(1, 2000)).time,
            time(model, "h200_sxm", spread, prefill(1, 4000)).time);
  EXPECT_LT(time(model, "h200_sxm", spread, prefill(1, 2000)).time,
            time(model, "h200_sxm", spread, prefill(1, 2000, 8000)).time);
  EXPECT_LT(time(model, "h200_sxm", spread, prefill(1, 2000, 8000)).time,
            time(model, "h200_sxm", spread, prefill(1, 10000)).time);
  EXPECT_LT(time(model, "h200_sxm", {8, 1, 1, 1}, decode(8, 1000)).time,
            time(model, "h200_sxm", {2, 1, 1, 1}, decode(8, 1000)).time);
}

TEST_F(Steps, SayWhatTheyRestOn) {
  auto sparse = steps("deepseek-ai/DeepSeek-V3.2", "h200_sxm", {1, 1, 8, 8});
  ASSERT_TRUE(sparse) << sparse.error().message;
  std::vector<OperatorTime> lines;
  ASSERT_TRUE(sparse->evaluate(decode(16, 8000), lines));
  std::vector<std::string> bounded;
  for (const OperatorTime& line : lines) {
    if (line.each.provenance == Provenance::roofline) bounded.push_back(line.lowered->op);
  }
  for (const char* op : {"sparse_indexer", "absorbed_projection", "router", "sampling"}) {
    EXPECT_NE(std::ranges::find(bounded, op), bounded.end()) << op;
  }
  EXPECT_EQ(std::ranges::find(bounded, "gemm"), bounded.end());
  const auto warnings = sparse->warnings(decode(16, 8000), lines);
  EXPECT_TRUE(std::ranges::any_of(warnings, [](const std::string& text) {
    return text.find("router") != std::string::npos && text.find("no table covers it") != std::string::npos;
  }));
  EXPECT_TRUE(std::ranges::any_of(
      warnings, [](const std::string& text) { return text.find("sparse attention") != std::string::npos; }));

  // Sixteen ranks were never timed: not eight ranks' time in silence.
  auto wide = steps("meta-llama/Llama-3.1-405B", "h200_sxm", {16, 1, 1, 1});
  ASSERT_TRUE(wide) << wide.error().message;
  ASSERT_TRUE(wide->evaluate(decode(1, 1000), lines));
  for (const OperatorTime& line : lines) {
    if (line.lowered->op == "collective") {
      EXPECT_EQ(line.each.provenance, Provenance::roofline);
    }
  }
  // 16-bit floats of the other kind were never timed: priced by their bound, not as bfloat16.
  auto half = StepPredictor::make(predictor_, *gpus_.spec("h200_sxm"), described("Qwen/Qwen3-8B", "float16"), {},
                                  {"h200_sxm", "", "", {}});
  ASSERT_TRUE(half) << half.error().message;
  const auto step = half->evaluate(decode(1, 1000), lines);
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(step->provenance, Provenance::roofline);
}

TEST_F(Steps, AFrameworkAnswersForItself) {
  auto vllm = steps("Qwen/Qwen3-32B", "h200_sxm", {4, 1, 1, 1}, "vllm");
  ASSERT_TRUE(vllm) << vllm.error().message;
  std::vector<OperatorTime> lines;
  ASSERT_TRUE(vllm->evaluate(decode(4, 1000), lines));
  bool gathered = false;
  for (const OperatorTime& line : lines) {
    if (line.each.by == nullptr || line.lowered->op == "memory") continue;
    // vLLM calls NCCL to gather: that is no stand-in.
    const bool nccl = line.lowered->name == "logits all-gather";
    gathered = gathered || nccl;
    EXPECT_EQ(line.each.by->framework(), nccl ? "nccl" : "vllm") << line.lowered->name;
    EXPECT_NE(line.each.provenance, Provenance::transferred) << line.lowered->name;
  }
  EXPECT_TRUE(gathered);
  auto unknown = steps("Qwen/Qwen3-32B", "h200_sxm", {}, "nobody");
  ASSERT_TRUE(unknown) << unknown.error().message;
  const auto step = unknown->evaluate(decode(4, 1000));
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(step->provenance, Provenance::transferred);
}

// vLLM's block-scaled products on Hopper were timed while the host set the pace (every size at least 58 us).
TEST_F(Steps, TimesOfTheHostAreNotBelieved) {
  auto vllm = steps("deepseek-ai/DeepSeek-V3", "h200_sxm", {8, 1, 8, 1}, "vllm");
  ASSERT_TRUE(vllm) << vllm.error().message;
  std::vector<OperatorTime> lines;
  ASSERT_TRUE(vllm->evaluate(decode(4, 1000), lines));
  int products = 0;
  for (const OperatorTime& line : lines) {
    if (line.lowered->op != "gemm" || line.lowered->attributes.at("dtype") != "fp8_block") continue;
    ++products;
    EXPECT_EQ(line.each.by->framework(), "trtllm") << line.lowered->name;
    EXPECT_EQ(line.each.provenance, Provenance::transferred) << line.lowered->name;
    EXPECT_LT(line.each.time, Seconds(40e-6)) << line.lowered->name;
  }
  EXPECT_GT(products, 3);
  const auto warnings = vllm->warnings(decode(4, 1000), lines);
  EXPECT_TRUE(
      std::ranges::any_of(warnings, [](const std::string& text) { return text.find("host") != std::string::npos; }));
}

// TensorRT-LLM's table of grouped decode attention on the B200 is several times slower than a step that runs it.
TEST_F(Steps, AttentionOfTheB200IsThatOfAnotherFramework) {
  const auto attention = [&](const char* model, const char* gpu, const char* framework) {
    auto predictor = steps(model, gpu, {1, 1, 1, 1}, framework);
    EXPECT_TRUE(predictor) << predictor.error().message;
    std::vector<OperatorTime> lines;
    EXPECT_TRUE(predictor->evaluate(decode(8, 2000), lines));
    const auto found =
        std::ranges::find(lines, "generation_attention", [](const OperatorTime& line) { return line.lowered->op; });
    return std::pair(found->each.by->framework(), found->each.provenance);
  };
  EXPECT_EQ(attention("Qwen/Qwen3-32B", "b200_sxm", ""), std::pair(std::string("vllm"), Provenance::interpolated));
  EXPECT_EQ(attention("Qwen/Qwen3-32B", "b200_sxm", "trtllm"), std::pair(std::string("vllm"), Provenance::transferred));
  EXPECT_EQ(attention("Qwen/Qwen3-32B", "h200_sxm", ""), std::pair(std::string("trtllm"), Provenance::interpolated));
}

TEST_F(Steps, RefuseWhatAGpuCannotMultiply) {
  const auto fp4 = steps("nvidia/DeepSeek-R1-NVFP4", "h200_sxm", {8, 1, 8, 1});
  ASSERT_FALSE(fp4);
  EXPECT_EQ(fp4.error().code, ErrorCode::not_calibrated);
  EXPECT_NE(fp4.error().message.find("fp4"), std::string::npos);
  const auto fp8 = steps("deepseek-ai/DeepSeek-V3", "a100_sxm", {8, 1, 8, 1});
  ASSERT_FALSE(fp8);
  EXPECT_EQ(fp8.error().code, ErrorCode::not_calibrated);
}

TEST_F(Steps, RunInTheFormatsOfTheGpu) {
  const auto experts = [&](const char* gpu, const char* framework) {
    models::ModelDescription model = described("openai/gpt-oss-120b");
    const std::size_t notes = model.notes.size();
    choose_runtime_formats(model, *gpus_.spec(gpu), framework);
    EXPECT_EQ(model.notes.size() > notes, model.formats.experts != "w4a16_mxfp4");
    return model.formats.experts;
  };
  EXPECT_EQ(experts("h200_sxm", ""), "w4a16_mxfp4");
  EXPECT_EQ(experts("b200_sxm", ""), "w4a8_mxfp4_mxfp8");
  EXPECT_EQ(experts("b200_sxm", "trtllm"), "w4a8_mxfp4_mxfp8");
  EXPECT_EQ(experts("b200_sxm", "vllm"), "w4a16_mxfp4");
}

TEST_F(Steps, AreRememberedExactly) {
  auto predictor = steps("Qwen/Qwen3-235B-A22B", "h200_sxm", {8, 1, 8, 1});
  ASSERT_TRUE(predictor) << predictor.error().message;
  const auto first = predictor->evaluate(decode(16, 3000));
  ASSERT_TRUE(predictor->evaluate(mixed(16, 3000, 900)));
  const auto again = predictor->evaluate(decode(16, 3000));
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->time, again->time);
  EXPECT_EQ(first->lo, again->lo);
  EXPECT_EQ(first->hi, again->hi);
}

TEST_F(Steps, SizesBeyondAnOperatorAreRefused) {
  auto predictor = steps("Qwen/Qwen3-8B", "h200_sxm", {});
  ASSERT_TRUE(predictor) << predictor.error().message;
  const auto step = predictor->evaluate(decode(1, std::int64_t{1} << 40));
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, ErrorCode::usage);
}

// A step that drafts costs more and yields more.
TEST_F(Steps, DraftsCostMore) {
  StepQuestion question;
  question.gpu = "h200_sxm";
  question.lower.drafting = true;
  auto drafting = StepPredictor::make(predictor_, *gpus_.spec("h200_sxm"), described("deepseek-ai/DeepSeek-V3"),
                                      {8, 1, 8, 1}, question);
  ASSERT_TRUE(drafting) << drafting.error().message;
  StepTokens tokens = decode(8, 3000);
  const auto plain = drafting->evaluate(tokens);
  tokens.decode.drafted = 2;
  const auto drafted = drafting->evaluate(tokens);
  ASSERT_TRUE(plain && drafted);
  EXPECT_GT(drafted->time, plain->time);
  EXPECT_LT(drafted->time, 2.0 * plain->time);
}

}  // namespace
}  // namespace roofcal
