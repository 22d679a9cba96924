// How releases say in which formats their weights are.
#include "predictor/models/quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace roofcal::models {
namespace {

using ::testing::HasSubstr;

Formats formats(const std::string& quantization) {
  const auto read = read_formats(nlohmann::json::parse(quantization), "bfloat16", 20);
  EXPECT_TRUE(read.ok()) << read.error().message;
  return read.ok() ? *read : Formats{};
}

TEST(Quantization, OfNoneIsTheBase) {
  const auto read = read_formats(nlohmann::json(), "float16", 0);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->attention, "float16");
  EXPECT_EQ(read->kv_cache, "float16");
}

TEST(Quantization, Fp8WithBlocksOrWithout) {
  EXPECT_EQ(formats(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})").experts, "fp8_block");
  EXPECT_EQ(formats(R"({"quant_method": "fp8", "activation_scheme": "static"})").dense_ffn, "fp8");
  EXPECT_EQ(formats(R"({"quant_method": "fbgemm_fp8"})").attention, "fp8");
}

TEST(Quantization, ModulesThatAreLeftOutKeepTheBase) {
  // "gate" is the router, not the gate projection.
  const Formats minimax = formats(R"({"quant_method": "fp8", "weight_block_size": [128, 128],
    "modules_to_not_convert": ["gate", "e_score_correction_bias", "lm_head"]})");
  EXPECT_EQ(minimax.experts, "fp8_block");
  EXPECT_EQ(minimax.dense_ffn, "fp8_block");
  EXPECT_EQ(minimax.attention, "fp8_block");

  const Formats gpt_oss = formats(R"({"quant_method": "mxfp4", "modules_to_not_convert":
    ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]})");
  EXPECT_EQ(gpt_oss.experts, "w4a16_mxfp4");
  EXPECT_EQ(gpt_oss.attention, "bfloat16");

  const Formats kimi = formats(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights":
    {"num_bits": 4, "type": "int", "group_size": 32}, "input_activations": null}},
    "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"]})");
  EXPECT_EQ(kimi.experts, "int4_wo");
  EXPECT_EQ(kimi.attention, "bfloat16");
  EXPECT_EQ(kimi.shared_experts, "bfloat16");
  EXPECT_EQ(kimi.dense_ffn, "bfloat16");

  // Exceptions written out layer by layer: a layer in the middle stands for all.
  const Formats listed = formats(R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore":
    ["model.layers.20.self_attn.o_proj", "model.layers.3.mlp.down_proj", "model.layers.2.mlp.experts.0.down_proj"]})");
  EXPECT_EQ(listed.attention, "bfloat16");
  EXPECT_EQ(listed.dense_ffn, "nvfp4");
  EXPECT_EQ(listed.experts, "nvfp4");
}

TEST(Quantization, ModelOptInTheConfigAndBesideIt) {
  const Formats inside = formats(R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_scheme":
    {"num_bits": 8, "type": "float", "dynamic": false}, "config_groups": {"group_0": {"input_activations":
    {"num_bits": 4, "type": "float", "group_size": 16}, "weights": {"num_bits": 4, "type": "float", "group_size": 16}}},
    "ignore": ["lm_head", "model.layers.*.self_attn*"]})");
  EXPECT_EQ(inside.experts, "nvfp4");
  EXPECT_EQ(inside.attention, "bfloat16");
  EXPECT_EQ(inside.kv_cache, "fp8");

  const Formats beside = formats(R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8",
    "kv_cache_quant_algo": null, "exclude_modules": ["lm_head"]}})");
  EXPECT_EQ(beside.attention, "fp8");
  EXPECT_EQ(beside.kv_cache, "bfloat16");
}

TEST(Quantization, IntegerMethods) {
  EXPECT_EQ(formats(R"({"quant_method": "gptq", "bits": 4, "group_size": 128})").dense_ffn, "int4_wo");
  EXPECT_EQ(formats(R"({"quant_method": "gptq", "bits": 8, "group_size": 128})").dense_ffn, "int8_wo");
  EXPECT_EQ(formats(R"({"quant_method": "awq", "bits": 4})").dense_ffn, "int4_wo");
  const Formats w8a8 = formats(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights":
    {"num_bits": 8, "type": "int", "strategy": "channel"}, "input_activations": {"num_bits": 8, "type": "int"}}}})");
  EXPECT_EQ(w8a8.dense_ffn, "int8");
}

TEST(Quantization, UnknownMethodsAreNamed) {
  const auto read = read_formats(nlohmann::json::parse(R"({"quant_method": "quark"})"), "bfloat16", 0);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("'quark'"));
}

}  // namespace
}  // namespace roofcal::models
