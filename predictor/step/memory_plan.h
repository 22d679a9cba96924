// What a deployment keeps in a GPU's memory: one account for everything that asks whether a batch fits.
#pragma once

#include <cstdint>

#include "core/gpu_spec.h"
#include "core/units.h"
#include "predictor/models/description.h"
#include "predictor/step/parallelism.h"
#include "predictor/step/step_tokens.h"

namespace roofcal {

/// Of the fullest GPU: that of the pipeline stage which has least to spare.
struct MemoryPlan {
  Bytes capacity{};                    ///< of the GPU
  Bytes usable{};                      ///< kUsableShare of it
  Bytes weights{};                     ///< what it holds of the model: its shards, and what every GPU has a copy of
  Bytes activations{};                 ///< of the step, at the widest place of a layer
  Bytes overhead{};                    ///< context, libraries, communication buffers
  Bytes cache{};                       ///< keys and values, latents, indexer keys and recurrent states of the sequences
  double cache_bytes_per_token = 0.0;  ///< on this GPU, at the sequences' length
  std::int64_t cache_tokens = 0;       ///< that the cache has room for, over all sequences of one attention rank
  std::int64_t cache_tokens_left = 0;  ///< beyond the sequences of the step
  bool fits = false;

  [[nodiscard]] Bytes needed() const { return weights + activations + overhead + cache; }
};

/// A server does not take all memory: this much is vLLM's default (gpu_memory_utilization), and what TensorRT-LLM gives
/// its cache comes out close to it.
inline constexpr double kUsableShare = 0.9;
/// CUDA context, loaded kernels and allocator slack, and what NCCL holds as soon as there is a second GPU. Round
/// figures of what nvidia-smi shows beside weights and cache; a GPU of a running server holds 0.5 to 1.5 GiB of it.
inline constexpr Bytes kContextBytes{1024.0 * 1024 * 1024};
inline constexpr Bytes kCommunicationBytes{256.0 * 1024 * 1024};

/// The sequences that live in the cache of one attention rank, and how long each grows.
struct CachedSequences {
  std::int64_t count = 0;
  std::int64_t length = 0;
};

/// `step`: the largest that is run. Layers with a window keep no more than the window. Precondition: check(model,
/// spread).
[[nodiscard]] MemoryPlan plan_memory(const models::ModelDescription& model, const Parallelism& spread,
                                     const GpuSpec& gpu, const StepTokens& step, const CachedSequences& sequences);

/// Weights that one GPU of a pipeline stage holds.
[[nodiscard]] Bytes stage_weights(const models::ModelDescription& model, const Parallelism& spread, std::int64_t stage);
/// Cache of one sequence of this length on one GPU of a stage.
[[nodiscard]] Bytes stage_cache(const models::ModelDescription& model, const Parallelism& spread, std::int64_t stage,
                                std::int64_t length);

}  // namespace roofcal
