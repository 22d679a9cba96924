// A model as the list of operators that one GPU runs in a step: what each is, how often it runs, what it weighs, and
// how its size follows from the tokens of the step. Knows nothing of calibrations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/operator.h"
#include "predictor/models/description.h"
#include "predictor/step/parallelism.h"
#include "predictor/step/step_tokens.h"

namespace roofcal {

/// Which tokens of a step an operator sees.
enum class Rows {
  tokens,    ///< all of them
  logits,    ///< those whose successor is asked for
  prefill,   ///< of prompts
  expanded,  ///< of prompts, the cached ones too: what latent attention expands
  decode,    ///< of sequences that decode
  drafting,  ///< one a decoding sequence: a pass of the draft layer
};
[[nodiscard]] std::int64_t rows_of(Rows rows, const StepTokens& tokens);

struct GemmSizes {
  Rows rows = Rows::tokens;
  std::int64_t n = 0;
  std::int64_t k = 0;
  friend bool operator==(const GemmSizes&, const GemmSizes&) = default;
};

/// Softmax attention of one phase (the operator's name tells which).
struct AttentionSizes {
  std::int64_t heads = 0;  ///< of one GPU
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;
  friend bool operator==(const AttentionSizes&, const AttentionSizes&) = default;
};

/// Latent attention of one phase. `most_keys`: what a query attends to at most (sparse attention); 0: all.
struct MlaCallSizes {
  std::int64_t heads = 0;
  std::int64_t most_keys = 0;
  friend bool operator==(const MlaCallSizes&, const MlaCallSizes&) = default;
};

struct MoeSizes {
  Rows rows = Rows::tokens;
  std::int64_t ranks = 1;  ///< of attention whose tokens meet at the experts
  std::int64_t hidden = 0, inter = 0, experts = 0, topk = 0, tp = 1, ep = 1;
  std::int64_t distribution = 0;
  friend bool operator==(const MoeSizes&, const MoeSizes&) = default;
};

struct CollectiveSizes {
  Rows rows = Rows::tokens;
  double bytes_per_row = 0.0;
  friend bool operator==(const CollectiveSizes&, const CollectiveSizes&) = default;
};

struct MemorySizes {
  Rows rows = Rows::tokens;
  double read_per_row = 0.0;  ///< bytes
  double written_per_row = 0.0;
  friend bool operator==(const MemorySizes&, const MemorySizes&) = default;
};

/// An operator that no table covers, by the work that it has to do: FLOPs and bytes a row, a (query, key) pair, a
/// cached token that is looked at, a sequence.
struct BoundSizes {
  enum class Attends { nothing, prefill, decode, both };

  Rows rows = Rows::tokens;
  Rate rate = Rate::bfloat16;
  double flops_per_row = 0.0;
  double read_per_row = 0.0;
  double written_per_row = 0.0;
  Attends attends = Attends::nothing;
  std::int64_t most_keys = 0;  ///< that a query sees; 0: all
  double flops_per_pair = 0.0;
  double read_per_key = 0.0;
  double state_per_sequence = 0.0;  ///< read and written once
  friend bool operator==(const BoundSizes&, const BoundSizes&) = default;
};

using Sizes = std::variant<GemmSizes, AttentionSizes, MlaCallSizes, MoeSizes, CollectiveSizes, MemorySizes, BoundSizes>;

struct LoweredOperator {
  std::string name;  ///< "qkv projection"
  std::string op;    ///< an operator's name (core/operators.cc); else what it is called here: "router", "sampling", ...
  Attributes attributes;
  Sizes sizes;
  double count = 1.0;           ///< calls a step, over all stages
  bool each_draft = false;      ///< so many calls for each drafted token
  double weights = 0.0;         ///< parameters on one GPU that a call multiplies by (of experts: all that it holds)
  Bytes weight_bytes{};         ///< of these
  bool shares_weights = false;  ///< they are another operator's already
  std::string stand_in;         ///< what is priced in place of what: the answer is `transferred`. Empty: nothing

  /// nullptr for what no table covers.
  [[nodiscard]] const Operator* table() const { return find_operator(op); }
};

/// The sizes of a call in this step; nullopt when the step does not run it. For operators with a table.
[[nodiscard]] std::optional<Shape> shape_of(const LoweredOperator& lowered, const StepTokens& tokens);
/// The work of a call in this step; nullopt when the step does not run it.
[[nodiscard]] std::optional<Work> work_of(const LoweredOperator& lowered, const StepTokens& tokens);

/// What a framework does in one kernel with something else.
struct Fusions {
  bool norm_in_all_reduce = false;   ///< residual and norm behind an all-reduce are part of it
  bool rotary_in_attention = false;  ///< the attention call rotates queries and keys itself

  friend bool operator==(const Fusions&, const Fusions&) = default;
};
/// TensorRT-LLM does both (its all-reduce takes a fused RESIDUAL_RMS_NORM; its attention operator rotates, and is timed
/// so). Of other frameworks neither is taken for granted.
[[nodiscard]] Fusions fusions_of(std::string_view framework);

struct LowerOptions {
  std::int64_t distribution = 0;  ///< of the router (core/moe.h): 0 balanced, 1200: power law of exponent 1.2
  std::string topology = "node";  ///< of the collectives
  Fusions fusions;
  bool drafting = false;  ///< adds the passes of a multi-token-prediction layer that drafts
};

/// What one GPU runs in a step: of all stages together, as a token passes them one after the other. Equal operators of
/// different layers are one entry. Precondition: check(model, spread).
[[nodiscard]] std::vector<LoweredOperator> lower(const models::ModelDescription& model, const Parallelism& spread,
                                                 const LowerOptions& options = {});

/// What one GPU runs of one layer; `count` is 1.
[[nodiscard]] std::vector<LoweredOperator> lower_layer(const models::ModelDescription& model,
                                                       const models::Layer& layer, const Parallelism& spread,
                                                       const LowerOptions& options);

/// Embedding: what runs before the first layer. Head: after the last, logits and sampling.
[[nodiscard]] std::vector<LoweredOperator> lower_embedding(const models::ModelDescription& model,
                                                           const Parallelism& spread, const LowerOptions& options);
[[nodiscard]] std::vector<LoweredOperator> lower_head(const models::ModelDescription& model, const Parallelism& spread,
                                                      const LowerOptions& options);

}  // namespace roofcal
