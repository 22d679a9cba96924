// Outcomes as the store keeps them.
#pragma once

#include <string>
#include <vector>

#include "db/store.h"
#include "microbench/measure_case.h"

namespace roofcal::microbench {

/// What outcomes of one run on one GPU have in common.
struct RecordContext {
  std::string gpu;      ///< catalogue name
  std::string version;  ///< of the library that brings GEMMs: "13.0.2"
  std::string roofcal;  ///< of the own kernels
  std::string device;   ///< UUID
  ClockMode clocks = ClockMode::as_shipped;
  DataFill fill = DataFill::random;
  bool drifted = false;  ///< the last sentinel lay off
  std::string measured_utc;
};

/// A measured case's sample; where an operator's result was checked, a sample of kind "check" too, whose time is what
/// the check itself took. A wrong result: only the latter, flagged "failed". A skipped case: nothing. Flags of a
/// sample: "throttled" and "failed" (left out of fits), "power_capped", "unsteady_clock", "drifted", "imprecise" (the
/// time limit came before the precision), "zeros".
[[nodiscard]] std::vector<StoredSample> samples_of(const Outcome& outcome, const RecordContext& context);

/// The heuristic's choice for a case of --map-kernels; its time is what the question took on the host.
[[nodiscard]] StoredSample map_sample(const MeasurementCase& one, const std::string& algorithm, Seconds asking,
                                      const RecordContext& context);

/// Under which class a case is filed.
[[nodiscard]] ClassKey key_of(const MeasurementCase& one, const RecordContext& context);

}  // namespace roofcal::microbench
