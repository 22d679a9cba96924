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
  std::uint16_t kernel = 0;  ///< index into Resolution::kernels(), where a calibration answered
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
  /// `resolution`: null where nothing calibrated answers. All references outlive the pricer.
  OperatorPricer(const LoweredOperator& lowered, const GpuSpec& gpu, const MemoryBandwidth& bandwidth,
                 std::shared_ptr<const Resolution> resolution);

  /// nullopt when the step does not run the operator. Errors: usage, a size beyond what the operator allows.
  [[nodiscard]] Result<std::optional<Price>> price(const StepTokens& tokens);
  [[nodiscard]] const Resolution* resolution() const { return resolution_.get(); }
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
  std::shared_ptr<const Resolution> resolution_;
  std::unordered_map<Shape, Price, ShapeHash> known_;
};

}  // namespace roofcal
