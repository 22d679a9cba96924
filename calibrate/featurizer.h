// The physics of an operator: each call as a row of times at datasheet peaks (columns) and of dimensionless features.
// One file an operator implements it (calibrate/gemm_featurizer.cc); fitting and prediction see only this interface.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/gpu_spec.h"
#include "core/operator.h"

namespace roofcal {

/// What an operator knows about its own fits. Everything has a default that works without it.
struct FitHints {
  /// The Gaussian process's features and the centre of the prior on each log length scale (inputs standardised). Empty:
  /// all features, at ln 1.5. A long list costs time and points: choose those in which the time varies smoothly.
  struct Length {
    std::string_view feature;
    double log_length;
  };
  std::vector<Length> smooth;
  /// Features in which `select spread` spreads the points. Empty: all features.
  std::vector<std::string_view> spread;
  /// The field along whose range intervals are calibrated in four bins.
  std::size_t size_field = 0;
  /// What an octave beyond the calibrated range costs: added to both sides of the 90 % interval of log t. Measured by
  /// fits on a trimmed range (docs/accuracy.md, Beyond the calibrated range).
  struct Beyond {
    std::string_view field;
    double below;
    double above;
  };
  /// Fields that are not here cost kUnmeasuredBeyond.
  std::vector<Beyond> beyond;
  static constexpr double kUnmeasuredBeyond = 0.3;
};

/// Bound to one GPU and one set of attributes, so that a call costs only arithmetic. Immutable: safe to share by
/// threads.
class Featurizer {
 public:
  virtual ~Featurizer() = default;

  /// The constant column, when there is one, is named "launch".
  [[nodiscard]] virtual std::span<const std::string_view> column_names() const = 0;
  /// At most 63.
  [[nodiscard]] virtual std::span<const std::string_view> feature_names() const = 0;

  /// `columns`: seconds (or counts, for launch-like terms), each >= 0 and non-decreasing in the work, so that a
  /// non-negative combination extrapolates. `features`: O(1) numbers that tell regimes apart (logs, fills, ratios).
  /// Sizes are those of the names. All finite.
  virtual void evaluate(const Shape& shape, std::span<double> columns, std::span<double> features) const = 0;

  [[nodiscard]] virtual FitHints hints() const { return {}; }

  /// Which of several kernels that hide under one name a shape may run; small numbers from 0. A fit may give each a
  /// model of its own where that pays: not every library has all of them.
  [[nodiscard]] virtual int class_split(const Shape& /*shape*/) const { return 0; }
};

/// The featurizer of an operator; nullptr for an operator that has none (then it can be bounded, not calibrated), and
/// for a GPU that lacks a figure which the operator's columns divide by.
[[nodiscard]] std::unique_ptr<Featurizer> make_featurizer(const Operator& op, const GpuSpec& gpu,
                                                          const Attributes& attributes);

}  // namespace roofcal
