// Which rows of the public MoE tables timed experts without a gate.
#include <map>
#include <string>

#include "core/moe.h"
#include "gtest/gtest.h"
#include "tests/core/cells_of.h"

namespace roofcal {
namespace {

std::string gated(const std::map<std::string, std::string, std::less<>>& changes) {
  std::map<std::string, std::string, std::less<>> row{
      {"moe_dtype", "bfloat16"},
      {"num_tokens", "8"},
      {"hidden_size", "2688"},
      {"inter_size", "1856"},
      {"topk", "6"},
      {"num_experts", "128"},
      {"moe_tp_size", "1"},
      {"moe_ep_size", "1"},
      {"framework", "VLLM"},
      {"version", "0.24.0"},
      {"distribution", "balanced"},
      {"kernel_source", "vllm_unquantizedfusedmoe_triton_tritonexperts"}};
  for (const auto& [column, text] : changes) row[column] = text;
  const auto call = moe_operator().from_table(cells_of(row));
  return call ? call->attributes.find("gated")->second : call.error().message;
}

TEST(MoeGate, TensorRtLlmSaysSoInTheNameOfItsKernel) {
  EXPECT_EQ(gated({{"kernel_source", "moe_torch_flow_nongated"}}), "no");
  EXPECT_EQ(gated({{"kernel_source", "moe_torch_flow_cutlass"}}), "yes");
}

TEST(MoeGate, VllmTimesTheSizesOfNemotronHWithoutOneSinceItsNewerCollector) {
  EXPECT_EQ(gated({}), "no");
  EXPECT_EQ(gated({{"hidden_size", "2048"}, {"inter_size", "5120"}, {"topk", "22"}, {"num_experts", "512"}}), "no");
  EXPECT_EQ(gated({{"hidden_size", "4096"}, {"inter_size", "1536"}, {"topk", "8"}}), "yes");
  EXPECT_EQ(gated({{"version", "0.14.0"}, {"kernel_source", "vllm_fused_moe"}}), "yes");
}

TEST(MoeGate, AColumnOfThatNameWins) { EXPECT_EQ(gated({{"gated", "yes"}}), "yes"); }

}  // namespace
}  // namespace roofcal
