// The highest rates that a GPU reached, as shipped: FLOP/s of each dtype, and bandwidths.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/gpu_spec.h"
#include "db/store.h"
#include "microbench/measure_case.h"

namespace roofcal::microbench {

/// Cases among which ceilings are looked for: square GEMMs from 4096 to 16384 in each dtype, and copy, read, write and
/// triad over 1 to 8 GiB.
[[nodiscard]] std::vector<MeasurementCase> ceiling_cases(const GpuFacts& facts);

/// The best sustained rate of each dtype and memory kernel. Throttled outcomes do not count; hot caches count for
/// memory only where the footprint is more than four times the L2.
class CeilingFinder {
 public:
  CeilingFinder(const GpuSpec& spec, Bytes l2) : spec_(spec), l2_(l2) {}

  void add(const Outcome& outcome);

  struct Ceiling {
    std::string what;  ///< "gemm bfloat16", "memory copy"
    MeasurementCase best;
    Seconds time{};
    double rate = 0.0;       ///< FLOP/s or bytes/s (memory: reads and writes together)
    double datasheet = 0.0;  ///< 0: the catalogue does not say
    std::size_t among = 0;   ///< cases compared
  };
  [[nodiscard]] std::vector<Ceiling> ceilings() const;

 private:
  GpuSpec spec_;
  Bytes l2_;
  std::map<std::string, Ceiling> best_;
};

/// As the store keeps it, kind "ceiling": the time of the best case, its rate, the datasheet's and their ratio.
[[nodiscard]] StoredSample ceiling_sample(const CeilingFinder::Ceiling& ceiling, ClassKey key, std::string device,
                                          std::string measured_utc);

}  // namespace roofcal::microbench
