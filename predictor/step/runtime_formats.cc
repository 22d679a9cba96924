#include "predictor/step/runtime_formats.h"

#include <fmt/format.h>

#include <string>

namespace roofcal {
namespace {

constexpr std::string_view kWide = "w4a16_mxfp4";
constexpr std::string_view kNarrow = "w4a8_mxfp4_mxfp8";

}  // namespace

void choose_runtime_formats(models::ModelDescription& model, const GpuSpec& gpu, std::string_view framework) {
  if (!gpu.has(Rate::fp4) || !(framework.empty() || framework == "trtllm")) return;
  bool changed = false;
  models::Formats& formats = model.formats;
  for (std::string* format : {&formats.attention, &formats.dense_ffn, &formats.experts, &formats.shared_experts}) {
    if (*format != kWide) continue;
    *format = kNarrow;
    changed = true;
  }
  if (changed) {
    model.notes.push_back(
        fmt::format("mxfp4 weights run with mxfp8 activations on {}, as TensorRT-LLM runs them", gpu.name));
  }
}

}  // namespace roofcal
