// How long a case will take, and how long the rest of a run.
#pragma once

#include <optional>
#include <string>

#include "core/gpu_spec.h"
#include "core/units.h"
#include "microbench/measurement_case.h"
#include "microbench/stopping.h"

namespace roofcal::microbench {

/// A guess at one launch before anything was measured: the roofline at 60 % of datasheet peaks and a 3 us floor.
/// Figures that the GPU's entry lacks (an unknown GPU) are taken as 100 TFLOP/s and 1 TB/s.
[[nodiscard]] Seconds expected_kernel_time(const MeasurementCase& one, const GpuSpec& gpu);

/// A guess at the whole case: allocation and filling, the check, warm-up, samples.
[[nodiscard]] Seconds expected_case_time(const MeasurementCase& one, const GpuSpec& gpu, const StoppingLimits& limits);

/// Corrects guesses by what finished cases took.
class TimeLeft {
 public:
  /// `expected`: of all cases of the run; `budget`: after which it stops, nullopt for none.
  TimeLeft(Seconds expected, std::optional<Seconds> budget) : rest_(expected), budget_(budget) {}

  void finished(Seconds expected, Seconds took);
  /// A case that was skipped takes nothing.
  void skipped(Seconds expected) { rest_ = rest_ - expected; }

  /// Never more than the budget leaves. `elapsed`: since the run began.
  [[nodiscard]] Seconds left(Seconds elapsed) const;
  [[nodiscard]] bool over(Seconds elapsed) const { return budget_ && elapsed >= *budget_; }

 private:
  Seconds rest_{};
  Seconds expected_done_{};
  Seconds took_{};
  std::optional<Seconds> budget_;
};

/// "1 h 05 min", "3 min 20 s", "12 s".
[[nodiscard]] std::string duration_text(Seconds time);

}  // namespace roofcal::microbench
