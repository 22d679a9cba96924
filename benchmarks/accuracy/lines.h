// Whether predictions behave between calibrated shapes: along straight lines in log size, time should fall as a size
// grows only where measurements do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "calibrate/class_model.h"
#include "core/sample.h"

namespace roofcal::accuracy {

struct LineFigures {
  std::size_t steps = 0;        ///< predictions compared with the one before
  std::size_t dips = 0;         ///< steps on which the time falls by more than 5 %
  std::size_t unexplained = 0;  ///< dips that no two neighbouring measurements show
};

/// `lines` lines of 40 steps through the calibrated range, each along one field (all of them in turn), the others at
/// log-uniform sizes. A dip is explained by two measurements within a factor of two of the step in every size, one at
/// least as large as the other in every size and more than 5 % faster. Precondition: every field has sizes above zero.
[[nodiscard]] LineFigures judge_lines(const ClassModel& model, std::span<const Sample> measured, std::size_t lines,
                                      std::uint64_t seed);

}  // namespace roofcal::accuracy
