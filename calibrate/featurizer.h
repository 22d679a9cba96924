// The physics of an operator: each call as a row of times at datasheet peaks (columns) and of dimensionless features.
// One file an operator implements it (calibrate/gemm_featurizer.cc); fitting and prediction see only this interface.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/gpu_spec.h"
#include "core/operator.h"

namespace roofcal {

/// Bound to one GPU and one set of attributes, so that a call costs only arithmetic. Immutable: safe to share by threads.
class Featurizer {
 public:
  virtual ~Featurizer() = default;

  [[nodiscard]] virtual std::span<const std::string_view> column_names() const = 0;
  [[nodiscard]] virtual std::span<const std::string_view> feature_names() const = 0;

  /// `columns`: seconds (or counts, for launch-like terms), each >= 0 and non-decreasing in the work, so that a
  /// non-negative combination extrapolates. `features`: O(1) numbers that tell regimes apart (logs, fills, ratios).
  /// Sizes are those of the names.
  virtual void evaluate(const Shape& shape, std::span<double> columns, std::span<double> features) const = 0;
};

/// The featurizer of an operator; nullptr for an operator that has none (then it can be bounded, not calibrated).
[[nodiscard]] std::unique_ptr<Featurizer> make_featurizer(const Operator& op, const GpuSpec& gpu,
                                                          const Attributes& attributes);

}  // namespace roofcal
