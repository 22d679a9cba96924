// What one measurement is of: an operator call, or something that has no operator (a launch, a copy to the host).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/operator.h"

namespace roofcal::microbench {

/// Kinds beside the store's "operator": db/store.h keeps their sizes by name.
inline constexpr std::string_view kLaunchKind = "launch";             ///< kernel_launch, graph_launch, host_dispatch
inline constexpr std::string_view kTransferKind = "transfer";         ///< host_to_device, device_to_host
inline constexpr std::string_view kBatchedGemmKind = "batched_gemm";  ///< equal products, a stride apart
inline constexpr std::string_view kSentinelKind = "sentinel";         ///< one shape again and again: shows drift
inline constexpr std::string_view kCheckKind = "check";               ///< an operator's result against its reference
inline constexpr std::string_view kMapKind = "kernel_map";            ///< the heuristic's choice, nothing timed
inline constexpr std::string_view kCeilingKind = "ceiling";           ///< the best rate that the GPU reached

using Sizes = std::map<std::string, std::int64_t>;

struct MeasurementCase {
  std::string kind;       ///< "operator" or one of the above
  std::string op;         ///< "gemm", "memory", or what was measured: "kernel_launch"
  std::string kernel;     ///< "heuristic", "exhaustive"; of memory: which kernel; else empty
  Attributes attributes;  ///< "dtype" of a GEMM
  /// By name. gemm: m, n, k, and batch where batched; memory kernels: as memory_kernels.h lists them.
  Sizes sizes;
  CacheMode cache = CacheMode::hot;

  friend bool operator==(const MeasurementCase&, const MeasurementCase&) = default;
};

/// One line without blanks, unequal for unequal cases: "operator/gemm/heuristic/dtype=bfloat16/k=4096,m=16,n=4096/hot".
/// The name of the benchmark, what the resume looks for, and what seeds the random data.
[[nodiscard]] std::string case_id(const MeasurementCase& one);

/// Work as core counts it. Cases that only launch have none; a transfer's bytes cross the link.
[[nodiscard]] Work work_of(const MeasurementCase& one);

/// Bytes of one set of operands on the device, results included; 0 for launches.
[[nodiscard]] Bytes footprint_of(const MeasurementCase& one);

/// The call as the store keeps it. Domain: a case of kind "operator".
[[nodiscard]] Shape shape_of(const MeasurementCase& one);

/// Bytes of one element of a GEMM's result: 4 where inputs have 4 and for int8 (int32 sums), else 2.
[[nodiscard]] double gemm_output_bytes(std::string_view dtype);

}  // namespace roofcal::microbench
