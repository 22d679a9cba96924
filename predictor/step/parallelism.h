// How a model is spread over GPUs. The one place that counts them.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"
#include "predictor/models/description.h"

namespace roofcal {

/// `pp` stages in a row, each of `dp` ranks of attention (with tokens of their own) of `tp` GPUs. The experts of a
/// stage are spread over all its tp x dp GPUs: shared out over `ep` of them, each expert split over the rest. A model
/// without experts has nothing to spread over dp: its ranks are copies that do not wait for each other.
struct Parallelism {
  std::int64_t tp = 1;
  std::int64_t pp = 1;
  std::int64_t ep = 1;
  std::int64_t dp = 1;

  [[nodiscard]] std::int64_t stage_gpus() const { return tp * dp; }
  [[nodiscard]] std::int64_t gpus() const { return pp * stage_gpus(); }
  /// GPUs that split each expert.
  [[nodiscard]] std::int64_t moe_tp() const { return stage_gpus() / ep; }

  friend bool operator==(const Parallelism&, const Parallelism&) = default;
};

/// "tp 4", "tp 8, pp 2, ep 8": what is not 1; empty on a single GPU.
[[nodiscard]] std::string to_string(const Parallelism& spread);

/// Layers of each stage as frameworks hand them out: as even as can be, the first stages taking what is left over.
/// `stage` from 0.
struct StageLayers {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
[[nodiscard]] StageLayers stage_layers(std::int64_t layers, std::int64_t stages, std::int64_t stage);

/// Whether the model can be spread so: heads, widths and experts must divide. Errors: usage, naming the figures.
[[nodiscard]] Result<void> check(const models::ModelDescription& model, const Parallelism& spread);

}  // namespace roofcal
