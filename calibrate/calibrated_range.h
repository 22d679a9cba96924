// The ranges over which a class was calibrated, and how far beyond them a shape lies.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "calibrate/class_model.h"
#include "core/operator.h"
#include "core/sample.h"

namespace roofcal {

/// What an octave below or above the range of a field adds to the interval of log t.
struct BeyondCost {
  double below = 0.0;
  double above = 0.0;
};

class CalibratedRange {
 public:
  CalibratedRange() = default;
  /// Precondition: at least one point.
  explicit CalibratedRange(std::span<const Sample> points);

  struct Position {
    Region region = Region::inside;
    std::uint32_t outside_fields = 0;
    double octaves = 0.0;   ///< beyond the range, summed over the fields
    double widening = 0.0;  ///< what they cost
  };
  /// Edge: between the outermost calibrated size of a field and the one before it, where there is support on one side
  /// only. `costs`: of the operator's fields.
  [[nodiscard]] Position locate(const Shape& shape, const Operator& op, std::span<const BeyondCost> costs) const;
  [[nodiscard]] ClassModel::Range field(std::size_t index) const { return {fields_[index].min, fields_[index].max}; }

  [[nodiscard]] nlohmann::json to_json() const;
  /// Throws as json_reading.h says.
  [[nodiscard]] static CalibratedRange from_json(const nlohmann::json& json, const Operator& op);

 private:
  struct Sizes {
    std::int64_t min, second, second_last, max;
  };
  std::vector<Sizes> fields_;
};

}  // namespace roofcal
