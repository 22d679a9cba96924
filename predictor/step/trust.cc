#include "predictor/step/trust.h"

#include <fmt/format.h>

namespace roofcal {
namespace {

bool is_grouped_decode(const LoweredOperator& lowered) {
  const auto* sizes = std::get_if<AttentionSizes>(&lowered.sizes);
  return lowered.op == "generation_attention" && sizes != nullptr && sizes->heads > sizes->kv_heads;
}

}  // namespace

std::string distrust(const LoweredOperator& lowered, const Resolution& resolution, std::uint16_t kernel) {
  const std::string name = fmt::format("kernel {} of {}", resolution.kernels()[kernel], resolution.framework());
  if (resolution.host_bound(kernel)) {
    return name + " was timed while the host, not the GPU, set the pace";
  }
  if (resolution.framework() == "trtllm" && resolution.gpu().architecture == "blackwell" &&
      is_grouped_decode(lowered)) {
    return name + " was timed several times slower than it runs in a model";
  }
  return {};
}

bool distrusted(const LoweredOperator& lowered, const Resolution& resolution) {
  for (std::size_t kernel = 0; kernel < resolution.kernels().size(); ++kernel) {
    if (!distrust(lowered, resolution, static_cast<std::uint16_t>(kernel)).empty()) return true;
  }
  return false;
}

}  // namespace roofcal
