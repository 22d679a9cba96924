// `predict model --describe`: counts and shapes of a config or a built-in model, without a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.h"

namespace roofcal::cli::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kMixture = R"({"architectures": ["MixtralForCausalLM"], "model_type": "mixtral",
  "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
  "intermediate_size": 128, "num_local_experts": 4, "num_experts_per_tok": 2, "vocab_size": 1000})";

TEST(DescribeModel, JsonHasTheCountsOfTheContract) {
  const Folder folder;
  folder.write("config.json", kMixture);
  const Outcome outcome = roofcal(folder, "predict model config.json --describe --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  const json answer = json::parse(outcome.out);
  // Attention q and o 64x64, k and v 64x32; four experts of 3 x 64x128; router 64x4; two norms.
  const int attention = 2 * 64 * 64 + 2 * 64 * 32;
  const int expert = 3 * 64 * 128;
  const int layer = attention + 4 * expert + 64 * 4 + 2 * 64;
  const int parameters = 3 * layer + 2 * 1000 * 64 + 64;
  EXPECT_EQ(answer["parameters"], parameters);
  EXPECT_EQ(answer["active_parameters"], parameters - 3 * 2 * expert - 1000 * 64);
  EXPECT_EQ(answer["weight_bytes"], 2 * parameters);
  EXPECT_EQ(answer["kv_bytes_per_token"], 3 * 2 * 32 * 2);
  EXPECT_EQ(answer["family"], "mixtral");
  EXPECT_THAT(answer["warnings"], IsEmpty());
  ASSERT_EQ(answer["layer_kinds"].size(), 1U);
  const json& kind = answer["layer_kinds"][0];
  EXPECT_EQ(kind["kind"], "full attention + moe");
  EXPECT_EQ(kind["count"], 3);
  EXPECT_EQ(kind["parameters"], layer);
  EXPECT_EQ(kind["head_dim"], 16);
  EXPECT_EQ(kind["experts"], 4);
  EXPECT_EQ(kind["topk"], 2);
  EXPECT_EQ(kind["inter"], nullptr);
}

TEST(DescribeModel, DtypesOfTheCommandLineWin) {
  const Folder folder;
  folder.write("config.json", kMixture);
  const json plain = json::parse(roofcal(folder, "predict model config.json --describe --format json").out);
  const json given = json::parse(
      roofcal(folder, "predict model config.json --describe --format json --dtype float8_e4m3fn --kv-dtype fp8").out);
  EXPECT_EQ(given["expert_dtype"], "fp8");
  EXPECT_EQ(given["dtype"], "bfloat16");
  EXPECT_EQ(given["parameters"], plain["parameters"]);
  EXPECT_EQ(given["kv_bytes_per_token"].get<int>() * 2, plain["kv_bytes_per_token"].get<int>());
  EXPECT_LT(given["weight_bytes"].get<int>(), plain["weight_bytes"].get<int>());

  const Outcome unknown = roofcal(folder, "predict model config.json --describe --dtype nvfp5");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--dtype: 'nvfp5' is no number format"));
}

TEST(DescribeModel, ReadsFoldersAndSaysWhatItAssumed) {
  const Folder folder;
  std::filesystem::create_directory(folder.path() / "Tiny-FP8");
  folder.write("Tiny-FP8/config.json", kMixture);
  const Outcome outcome = roofcal(folder, "predict model Tiny-FP8 --describe --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json answer = json::parse(outcome.out);
  EXPECT_EQ(answer["model"], "Tiny-FP8");
  ASSERT_EQ(answer["warnings"].size(), 1U);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("roofcal: warning: the name says FP8"), HasSubstr("--dtype")));
}

TEST(DescribeModel, EveryFormatHasOneRecord) {
  const Folder folder;
  const std::string ask = "predict model openai/GPT-OSS-120B --describe --format ";
  EXPECT_THAT(roofcal(folder, ask + "table").out,
              AllOf(HasSubstr("116.83 billion"), HasSubstr("sliding attention (128)")));
  EXPECT_THAT(roofcal(folder, ask + "md").out, HasSubstr("116.83 billion"));
  EXPECT_THAT(roofcal(folder, ask + "csv").out, HasSubstr("\nopenai/gpt-oss-120b,gpt_oss,116829"));
  EXPECT_EQ(json::parse(roofcal(folder, ask + "jsonl").out)["kv_bytes_per_token"], 73728);
}

TEST(DescribeModel, RefusesInOneLineWithAStatus) {
  const Folder folder;
  folder.write("bad.json", "{\n\"hidden_size\": 64,\n]\n");
  folder.write("draft.json", R"({"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama"})");
  folder.write("jamba.json", R"({"architectures": ["JambaForCausalLM"], "model_type": "jamba", "hidden_size": 64,
    "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100})");
  const auto refused = [&folder](const std::string& arguments, int status, const std::string& words) {
    const Outcome outcome = roofcal(folder, "predict model " + arguments + " --describe");
    EXPECT_EQ(outcome.status, status) << arguments;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr(words));
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  };
  refused("bad.json", 1, "bad.json:3: ");
  refused("draft.json", 1, "draft model");
  refused("jamba.json", 1, "--as FAMILY");
  refused("jamba.json --as lama", 2, "--as lama is no family");
  refused("Qwen/Qwen3-32", 2, "did you mean Qwen/Qwen3-32B");
  refused("''", 2, "neither a file or folder nor a built-in model");
  EXPECT_EQ(roofcal(folder, "predict model jamba.json --as llama --describe").status, 0);
}

}  // namespace
}  // namespace roofcal::cli::testing
