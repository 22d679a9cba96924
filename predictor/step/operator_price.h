// The time of one operator of a step: from a calibration, or by its bound where no table covers it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/roofline.h"
#include "predictor/memory_bandwidth.h"
#include "predictor/predictor.h"
#include "predictor/step/lower.h"

namespace roofcal {

/// One call.
struct Price {
  Seconds time{}, lo{}, hi{};
  Seconds roofline{};  ///< the hard bound, weights and cache coming from HBM
  Limit bound = Limit::compute;
  Provenance provenance = Provenance::roofline;
  const Resolution* by = nullptr;  ///< the calibration that answered; null: priced by its bound
  std::uint16_t kernel = 0;        ///< index into by->kernels()
  std::size_t error_class = 0;     ///< calls of one class err alike; 0: all that is priced by its bound
};

/// A calibration that may answer, and the error class of its first kernel: those of the others follow.
struct Answering {
  std::shared_ptr<const Resolution> resolution;
  std::size_t first_class = 0;
};

/// Priced by what it has to do at the datasheet's peaks, but with the calibrated bandwidth of the memory, behind a
/// launch. The interval spans from half to twice that, of communication to four times, and never reaches below the hard
/// bound.
[[nodiscard]] Price price_by_bound(const GpuSpec& gpu, const MemoryBandwidth& bandwidth, const Work& work);

/// Bytes that a call brings from HBM whatever its calibration found in L2: in a step other layers ran since the weights
/// and the cache of this one were used last.
[[nodiscard]] Bytes cold_bytes(const LoweredOperator& lowered, const Work& work);

/// Prices the calls of one operator of a step, remembering them by shape. Not for use by several threads at once.
class OperatorPricer {
 public:
  /// `first`: who answers, null for nobody. `second` steps in where the first one's kernel is not to be trusted
  /// (trust.h); may be null. `asked`: the framework of the first was asked for by name, so that the second is a
  /// stand-in. All references outlive the pricer.
  OperatorPricer(const LoweredOperator& lowered, const GpuSpec& gpu, const MemoryBandwidth& bandwidth, Answering first,
                 Answering second, bool asked);

  /// nullopt when the step does not run the operator. Errors: usage, a size beyond what the operator allows.
  [[nodiscard]] Result<std::optional<Price>> price(const StepTokens& tokens);
  /// What answered this call leaves to be said.
  [[nodiscard]] std::vector<std::string> warnings(const StepTokens& tokens) const;

 private:
  struct ShapeHash {
    std::size_t operator()(const Shape& shape) const;
  };
  [[nodiscard]] Result<Price> price_shape(const Shape& shape) const;

  const LoweredOperator* lowered_;
  const Operator* table_;  // null for what no table covers
  const GpuSpec* gpu_;
  const MemoryBandwidth* bandwidth_;
  Answering first_, second_;
  bool asked_;
  std::unordered_map<Shape, Price, ShapeHash> known_;
};

}  // namespace roofcal
