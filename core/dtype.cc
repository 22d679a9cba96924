#include "core/dtype.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/lower_case.h"

namespace roofcal {
namespace {

// Scales: fp8_block keeps one fp32 per 1x128 activations and per 128x128 weights (DeepSeek-V3 report, section 3.3);
// nvfp4 one fp8 per 16 values, mxfp4 and mxfp8 one byte per 32 (OCP Microscaling Formats v1.0).
constexpr std::array<DType, 14> kDTypes{{
    {"float32", 4.0, 4.0, Rate::fp32, "IEEE single precision on CUDA cores"},
    {"tf32", 4.0, 4.0, Rate::tf32, "single precision stored, tensor cores at 19 bits"},
    {"float16", 2.0, 2.0, Rate::float16, "IEEE half precision"},
    {"bfloat16", 2.0, 2.0, Rate::bfloat16, "brain float 16"},
    {"fp8", 1.0, 1.0, Rate::fp8, "8-bit float, one scale a tensor"},
    {"fp8_block", 1.0 + 4.0 / (128.0 * 128.0), 1.0 + 4.0 / 128.0, Rate::fp8,
     "8-bit float, scales of 1x128 and 128x128 blocks"},
    {"mxfp8", 1.0 + 1.0 / 32.0, 1.0 + 1.0 / 32.0, Rate::fp8, "8-bit float, a power-of-two scale per 32 values"},
    {"nvfp4", 0.5 + 1.0 / 16.0, 0.5 + 1.0 / 16.0, Rate::fp4, "4-bit float, an 8-bit scale per 16 values"},
    {"w4a8_mxfp4_mxfp8", 0.5 + 1.0 / 32.0, 1.0 + 1.0 / 32.0, Rate::fp8, "mxfp4 weights, mxfp8 activations"},
    {"w4a16_mxfp4", 0.5 + 1.0 / 32.0, 2.0, Rate::bfloat16, "mxfp4 weights, 16-bit activations"},
    {"int8", 1.0, 1.0, Rate::int8, "8-bit integer"},
    {"int8_wo", 1.0, 2.0, Rate::bfloat16, "int8 weights only, 16-bit activations"},
    {"int4_wo", 0.5, 2.0, Rate::bfloat16, "int4 weights only, 16-bit activations"},
    {"sq", 1.0, 1.0, Rate::int8, "SmoothQuant: int8 weights and activations"},
}};

struct Alias {
  std::string_view alias;
  std::string_view name;
};
constexpr std::array<Alias, 13> kAliases{{{"bf16", "bfloat16"},
                                          {"half", "float16"},
                                          {"fp16", "float16"},
                                          {"f16", "float16"},
                                          {"fp32", "float32"},
                                          {"float", "float32"},
                                          {"f32", "float32"},
                                          {"float8", "fp8"},
                                          {"fp8_e4m3", "fp8"},
                                          {"float8_e4m3fn", "fp8"},
                                          {"e4m3", "fp8"},
                                          {"fp4", "nvfp4"},
                                          {"w8a8_sq", "sq"}}};

}  // namespace

std::string_view to_string(Rate rate) {
  constexpr std::array<std::string_view, kRateCount> names{"fp64",     "fp32", "tf32", "float16",
                                                           "bfloat16", "fp8",  "fp4",  "int8"};
  return names[static_cast<std::size_t>(rate)];
}

std::span<const DType> all_dtypes() { return kDTypes; }

const DType* find_dtype(std::string_view name) {
  std::string wanted = lower_case(name);
  if (const auto* alias = std::ranges::find(kAliases, wanted, &Alias::alias); alias != kAliases.end()) {
    wanted = alias->name;
  }
  const auto* found = std::ranges::find(kDTypes, wanted, &DType::name);
  return found == kDTypes.end() ? nullptr : found;
}

}  // namespace roofcal
