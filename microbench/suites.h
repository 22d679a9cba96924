// The built-in lists of what to measure: one minute, ten, an hour.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "microbench/gpu_facts.h"
#include "microbench/measurement_case.h"
#include "microbench/stopping.h"

namespace roofcal::microbench {

enum class Suite { quick, llm, full };
[[nodiscard]] std::string_view to_string(Suite suite);
[[nodiscard]] std::optional<Suite> parse_suite(std::string_view text);

/// After how long a run of the suite ends at the latest.
[[nodiscard]] Seconds budget_of(Suite suite);
[[nodiscard]] StoppingLimits limits_of(Suite suite);

/// GEMM dtypes that cublasLt has kernels for: fp8 from 8.9 on, blocks of 128 on 9.0 only, mxfp8 and nvfp4 from 10.0 on.
/// `capability`: 90 for 9.0, 100 for 10.0.
[[nodiscard]] std::vector<std::string_view> gemm_dtypes(int capability);

/// Each case once, those that matter most first: where time runs short before the order is shuffled, the list is cut at
/// its end. `only_op`: "gemm", "memory", "launch" or "transfer"; empty for all. Sizes around the L2 follow the GPU's.
[[nodiscard]] std::vector<MeasurementCase> suite_cases(Suite suite, const GpuFacts& facts, std::string_view only_op);

/// What is measured again and again between the others: a bfloat16 GEMM of 4096^3 on the same buffers.
[[nodiscard]] MeasurementCase sentinel_case();

/// The GEMM grid whose algorithms --map-kernels asks for: powers of two and a half (m from 1, n and k from 64) up to
/// 32768, for every dtype of the GPU.
[[nodiscard]] std::vector<MeasurementCase> map_cases(int capability);

}  // namespace roofcal::microbench
