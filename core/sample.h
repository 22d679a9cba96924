// A measured time and what identifies it.
#pragma once

#include <cstdint>
#include <string>

#include "core/operator.h"
#include "core/units.h"

namespace roofcal {

/// What makes two measurements of one shape comparable: one kernel class is fitted by one model.
struct ClassKey {
  std::string op;
  std::string gpu;        ///< catalogue name
  std::string framework;  ///< lower case: "trtllm", "vllm", "sglang", "cublaslt", "nccl"
  std::string version;
  std::string kernel;
  Attributes attributes;
  CacheMode cache = CacheMode::hot;

  friend bool operator==(const ClassKey&, const ClassKey&) = default;
  friend auto operator<=>(const ClassKey&, const ClassKey&) = default;
};

/// "h200_sxm gemm dtype=bfloat16 trtllm 1.3.0rc10 torch_flow (hot)": for messages and reports.
[[nodiscard]] std::string describe(const ClassKey& key);

struct Sample {
  Shape shape;
  Seconds time{};
};

}  // namespace roofcal
