// Memory-bound kernels (norms, activations, copies) where nobody timed any: what other operators' rows tell about a
// GPU's memory stands in, and says so.
#pragma once

#include <map>
#include <vector>

#include "calibrate/class_model.h"
#include "core/result.h"
#include "core/sample.h"

namespace roofcal {

using SamplesByClass = std::map<ClassKey, std::vector<Sample>>;

/// Whether rows of a class tell about memory: GEMMs in bfloat16 (one kernel a call, its weights cold where they are
/// large) and decode attention with a bfloat16 cache.
[[nodiscard]] bool tells_about_memory(const ClassKey& key);

struct MemoryFigures {
  Seconds launch_floor{};         ///< median time of GEMMs of at most 16 rows that move less than 256 KiB
  BytesPerSecond by_gemm{};       ///< at which large cold weights come in, by the best class's 90 % quantile
  BytesPerSecond by_attention{};  ///< the same of key/value caches in decode attention; zero where none can tell
};

/// Bandwidths by GEMM and by decode attention differ by at most this much (ln) on the five public GPUs: by 0.083 on
/// A100, by 0.03 on the others.
inline constexpr double kMemoryFamilySpread = 0.085;

/// Figures of one GPU from the classes that tell about memory; others are ignored. Classes whose large rows beat the
/// datasheet's bandwidth are left out: they did not move the bytes that they should have.
/// Errors: too few rows of GEMMs (not_calibrated).
[[nodiscard]] Result<MemoryFigures> memory_figures(const GpuSpec& gpu, const SamplesByClass& classes);

/// A class model of the `memory` operator made of those figures: launch floor + bytes over bandwidth. With a hot L2,
/// what fits it moves at the geometric mean of that bandwidth and the L2's bound, and the interval reaches down to the
/// bound. The interval is the range of 90 % of the GEMMs' errors by size, each class weighing alike, plus
/// kMemoryFamilySpread to either side. Its ClassModel::derived_from() is not empty.
[[nodiscard]] Result<ClassModel> memory_stand_in(const GpuSpec& gpu, const SamplesByClass& classes, CacheMode cache);

}  // namespace roofcal
