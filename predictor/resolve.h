// The choices behind a resolved question: which framework, version and GPU stand in when the asked ones were not
// calibrated.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_spec.h"

namespace roofcal {

/// "1.3.0rc10" against "1.3.0": numbers compare as numbers, a release is newer than its candidates. < 0, 0, > 0.
[[nodiscard]] int compare_versions(std::string_view a, std::string_view b);

/// The default among frameworks: trtllm, else vllm, else sglang, else the first by name. Precondition: not empty.
[[nodiscard]] std::string preferred_framework(std::span<const std::string> frameworks);

/// How far a donor GPU is from a target, for choosing who stands in: the same architecture first, then the smallest
/// difference in log peak, memory bandwidth and SM count. Smaller is closer.
[[nodiscard]] double transfer_distance(const GpuSpec& donor, const GpuSpec& target, Rate rate);

/// Half-width, in log time, that answers carried from one GPU to another add to their interval. From the
/// leave-one-GPU-out experiments in docs/accuracy.md (section on transfer): about 6 % within an architecture, 15 to 55
/// % across (MAPE, no points on the target). Beyond what those experiments spanned (figures that differ by more, a
/// what-if) it grows with the sum of the logarithms by which figures differ.
[[nodiscard]] double transfer_log_halfwidth(const GpuSpec& donor, const GpuSpec& target);

}  // namespace roofcal
