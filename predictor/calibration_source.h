// Where the predictor finds frozen calibrations. Implemented by CalibrationLibrary over built-in files and the store.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "calibrate/calibration.h"
#include "core/result.h"
#include "core/sample.h"

namespace roofcal {

class CalibrationSource {
 public:
  virtual ~CalibrationSource() = default;

  /// Calibrations that hold classes of (gpu, op, attributes), the ones to prefer first (the store before built-ins).
  /// Loads on demand and keeps what it loaded: pointers stay valid as long as the source. Empty when there is none.
  [[nodiscard]] virtual Result<std::vector<const Calibration*>> find(std::string_view gpu, std::string_view op,
                                                                     const Attributes& attributes) const = 0;

  /// Says which groups (gpu, op, attributes) will be asked for soon, so that they can be read side by side. Changes no
  /// answer.
  virtual void expect(std::span<const ClassKey> /*groups*/) const {}

  /// (gpu, op, attributes) of everything there is; kernel, framework and version may be empty. For messages and for
  /// choosing a donor GPU: not called when `find` answers.
  [[nodiscard]] virtual Result<std::vector<ClassKey>> available() const = 0;
};

}  // namespace roofcal
