// `predict model`: the time of a step from the calibrations that come with the program, and its memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/cli/program.h"

namespace roofcal::cli::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PredictStep : public ::testing::Test {
 protected:
  PredictStep() {
    std::filesystem::create_directory_symlink(std::filesystem::path(ROOFCAL_SOURCE_DIR) / "calibrate" / "builtin",
                                              folder_.path() / "share" / "builtin");
  }

  [[nodiscard]] Outcome run(const std::string& arguments) const {
    return roofcal(folder_, "predict model " + arguments);
  }
  [[nodiscard]] json answer(const std::string& arguments) const {
    const Outcome outcome = run(arguments + " --format json");
    EXPECT_EQ(outcome.status, 0) << arguments << ": " << outcome.err;
    return outcome.status == 0 ? json::parse(outcome.out) : json::object();
  }

  const Folder folder_;
};

constexpr const char* kDecode = "meta-llama/Llama-3.1-70B --gpu h200_sxm --tp 4 --phase decode --batch 8 --isl 2000";

TEST_F(PredictStep, JsonIsThatOfTheContract) {
  const json step = answer(kDecode);
  EXPECT_EQ(step["model"], "meta-llama/Llama-3.1-70B");
  EXPECT_EQ(step["gpus"], 4);
  EXPECT_EQ(step["parameters"], 70'553'706'496);
  EXPECT_EQ(step["active_parameters"], 70'553'706'496);
  EXPECT_EQ(step["weight_bytes"], 141'107'412'992);
  EXPECT_EQ(step["kv_bytes_per_token"], 80 * 2 * 8 * 128 * 2);
  EXPECT_EQ(step["fits"], true);
  EXPECT_TRUE(step["warnings"].is_array());
  EXPECT_EQ(step["provenance"], "interpolated");
  const double time = step["time_s"];
  EXPECT_LT(step["lo_s"], time);
  EXPECT_GT(step["hi_s"], time);
  double sum = 0.0;
  double shares = 0.0;
  ASSERT_FALSE(step["operators"].empty());
  for (const json& one : step["operators"]) {
    for (const char* key : {"name", "op", "bound", "provenance"}) EXPECT_TRUE(one[key].is_string()) << key << one;
    EXPECT_TRUE(one["count"].is_number_integer()) << one;
    EXPECT_LE(one["lo_s"], one["time_s"]) << one;
    EXPECT_GE(one["hi_s"], one["time_s"]) << one;
    EXPECT_NEAR(one["call_s"].get<double>() * one["count"].get<double>(), one["time_s"], 1e-12) << one;
    sum += one["time_s"].get<double>();
    shares += one["share"].get<double>();
    if (one["name"] == "qkv projection") {
      EXPECT_EQ(one["op"], "gemm");
      EXPECT_EQ(one["count"], 80);
      EXPECT_EQ(one["m"], 8);
      EXPECT_EQ(one["n"], (64 + 2 * 8) * 128 / 4);
      EXPECT_EQ(one["k"], 8192);
      EXPECT_EQ(one["dtype"], "bfloat16");
      EXPECT_EQ(one["framework"], "trtllm");
    }
    if (one["op"] == "generation_attention") {
      EXPECT_EQ(one["seq"], 2000);
      EXPECT_EQ(one["kv_heads"], 2);
    }
  }
  EXPECT_NEAR(sum, time, 1e-9);
  EXPECT_NEAR(shares, 1.0, 1e-9);
}

TEST_F(PredictStep, EveryFormatHasTheBreakdown) {
  for (const char* format : {"table", "md", "csv", "json", "jsonl"}) {
    const Outcome outcome = run(std::string(kDecode) + " --format " + format);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("qkv projection"), HasSubstr("all-reduce"), HasSubstr("sampling")))
        << format;
  }
  const Outcome csv = run(std::string(kDecode) + " --format csv");
  std::istringstream lines(csv.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, HasSubstr("step_time_s"));
  const auto commas = std::count(line.begin(), line.end(), ',');
  while (std::getline(lines, line)) EXPECT_EQ(std::count(line.begin(), line.end(), ','), commas) << line;
}

TEST_F(PredictStep, SeveralGpusAreSeveralAnswers) {
  const json steps = answer("Qwen/Qwen3-8B --gpu h100_sxm,h200_sxm --phase decode --isl 1000");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0]["gpu"], "h100_sxm");
  EXPECT_EQ(steps[1]["gpu"], "h200_sxm");
  EXPECT_GT(steps[0]["time_s"], steps[1]["time_s"]);
}

TEST_F(PredictStep, PhasesPriceWhatTheySay) {
  const std::string model = "Qwen/Qwen3-32B --gpu h200_sxm --tp 2 ";
  const double prefill = answer(model + "--phase prefill --isl 4000")["time_s"];
  const double behind_prefix = answer(model + "--phase prefill --isl 4000 --prefix 3000")["time_s"];
  const double decode = answer(model + "--phase decode --batch 32 --isl 4000")["time_s"];
  const double later = answer(model + "--phase decode --batch 32 --isl 4000 --osl 8000")["time_s"];
  const json mixed = answer(model + "--phase mixed --batch 32 --isl 4000 --chunk 1000");
  EXPECT_LT(behind_prefix, 0.5 * prefill);
  EXPECT_GT(behind_prefix, 0.2 * prefill);
  EXPECT_GT(later, decode);
  EXPECT_GT(mixed["time_s"], decode);
  EXPECT_LT(mixed["time_s"].get<double>(),
            decode + answer(model + "--phase prefill --isl 1000")["time_s"].get<double>());
  EXPECT_EQ(mixed["tokens"], 1032);
}

TEST_F(PredictStep, CountsEveryGpu) {
  EXPECT_EQ(answer("Qwen/Qwen3-235B-A22B --gpu h200_sxm --tp 2 --pp 2 --dp 2 --ep 4 --phase decode --isl 1000")["gpus"],
            8);
  EXPECT_EQ(answer("Qwen/Qwen3-235B-A22B --gpu h200_sxm --tp 8 --ep 8 --phase decode --isl 1000")["gpus"], 8);
  EXPECT_EQ(answer("Qwen/Qwen3-235B-A22B --gpu h200_sxm --dp 8 --ep 8 --batch 4 --phase decode --isl 1000")["tokens"],
            32);
}

TEST_F(PredictStep, WhatDoesNotFitIsSaid) {
  const Outcome outcome = run("meta-llama/Llama-3.1-70B --gpu h200_sxm --phase decode --isl 1000 --format json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("does not fit"));
  const json step = json::parse(outcome.out);
  EXPECT_EQ(step["fits"], false);
  EXPECT_EQ(step["cache_tokens"], 0);
}

TEST_F(PredictStep, DraftsYieldMoreTokens) {
  const std::string model = "deepseek-ai/DeepSeek-V3 --gpu h200_sxm --tp 8 --ep 8 --phase decode --batch 4 --isl 2000 ";
  const json plain = answer(model);
  const json drafted = answer(model + "--draft-tokens 2 --draft-acceptance 0.8");
  EXPECT_EQ(plain["tokens_per_sequence"], 1.0);
  EXPECT_DOUBLE_EQ(drafted["tokens_per_sequence"], 1.0 + 0.8 + 0.64);
  EXPECT_GT(drafted["time_s"], plain["time_s"]);
  EXPECT_LT(drafted["token_s"], plain["token_s"]);
}

TEST_F(PredictStep, StrictRefusesWhatStandsInOrOnlyBounds) {
  EXPECT_EQ(run(std::string(kDecode) + " --strict").status, 0);
  const Outcome half = run("Qwen/Qwen3-8B --gpu h200_sxm --phase decode --isl 1000 --dtype float16 --strict");
  EXPECT_EQ(half.status, 3);
  EXPECT_THAT(half.out, IsEmpty());
  EXPECT_THAT(half.err, AllOf(HasSubstr("--strict: the step would be"), HasSubstr("gate and up projection roofline")));
  const Outcome other = run(std::string(kDecode) + " --framework nobody --strict");
  EXPECT_EQ(other.status, 3);
  EXPECT_THAT(other.err, HasSubstr("transferred"));
}

TEST_F(PredictStep, ADtypeThatNobodyTimedIsPricedByItsBound) {
  const Outcome outcome = run("Qwen/Qwen3-8B --gpu h200_sxm --phase decode --isl 1000 --dtype float16 --format json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["provenance"], "roofline");
  EXPECT_THAT(outcome.err, HasSubstr("dtype=float16 is not calibrated for h200_sxm"));
  const Outcome impossible = run("nvidia/Qwen3-32B-NVFP4 --gpu h200_sxm --phase decode --isl 1000");
  EXPECT_EQ(impossible.status, 3);
  EXPECT_THAT(impossible.err, HasSubstr("no fp4 arithmetic"));
}

}  // namespace
}  // namespace roofcal::cli::testing
