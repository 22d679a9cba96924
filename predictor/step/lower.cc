#include "predictor/step/lower.h"

#include <algorithm>
#include <cmath>

#include "core/attention.h"
#include "predictor/step/lowering.h"

namespace roofcal {
namespace lowering {

using models::Part;

constexpr double kHalf = 2.0;  // bytes of a 16-bit value

void Writer::gemm(std::string name, Part part, Rows rows, std::int64_t n, std::int64_t k) {
  LoweredOperator call;
  call.name = std::move(name);
  call.op = "gemm";
  const std::string& format = model.formats.of(part);
  call.attributes = {{"dtype", format}};
  call.sizes = GemmSizes{rows, n, k};
  call.weights = real(n) * real(k);
  call.weight_bytes = Bytes(call.weights * find_dtype(format)->weight_bytes);
  add(std::move(call));
}

void Writer::memory(std::string name, Rows rows, double elements_read, double elements_written) {
  LoweredOperator call;
  call.name = std::move(name);
  call.op = "memory";
  call.sizes = MemorySizes{rows, kHalf * elements_read, kHalf * elements_written};
  add(std::move(call));
}

void Writer::collective(std::string name, std::string_view kind, std::int64_t ranks, Rows rows, double bytes_per_row) {
  if (ranks < 2) return;
  LoweredOperator call;
  call.name = std::move(name);
  call.op = "collective";
  call.attributes = {
      {"collective", std::string(kind)}, {"ranks", std::to_string(ranks)}, {"topology", options.topology}};
  call.sizes = CollectiveSizes{rows, bytes_per_row};
  add(std::move(call));
}

void Writer::bound(std::string name, std::string op, const BoundSizes& sizes, double weights) {
  LoweredOperator call;
  call.name = std::move(name);
  call.op = std::move(op);
  call.sizes = sizes;
  call.weights = weights;
  call.weight_bytes = Bytes(kHalf * weights);
  add(std::move(call));
}

namespace {

// Adds operators, all of them `times` over, those that are there already to their equals.
void merge(std::vector<LoweredOperator>& into, std::vector<LoweredOperator> operators, double times) {
  for (LoweredOperator& one : operators) {
    one.count *= times;
    const auto same = std::ranges::find_if(into, [&one](const LoweredOperator& other) {
      return other.name == one.name && other.op == one.op && other.attributes == one.attributes &&
             other.sizes == one.sizes && other.each_draft == one.each_draft;
    });
    if (same == into.end()) {
      into.push_back(std::move(one));
    } else {
      same->count += one.count;
    }
  }
}

// Of a draft layer each pass sees one token of each decoding sequence.
struct AsDraft {
  void operator()(GemmSizes& sizes) const { sizes.rows = Rows::drafting; }
  void operator()(AttentionSizes& /*sizes*/) const {}
  void operator()(MlaCallSizes& /*sizes*/) const {}
  void operator()(MoeSizes& sizes) const { sizes.rows = Rows::drafting; }
  void operator()(CollectiveSizes& sizes) const { sizes.rows = Rows::drafting; }
  void operator()(MemorySizes& sizes) const { sizes.rows = Rows::drafting; }
  void operator()(BoundSizes& sizes) const {
    sizes.rows = Rows::drafting;
    if (sizes.attends == BoundSizes::Attends::both) sizes.attends = BoundSizes::Attends::decode;
  }
};

// A multi-token-prediction layer (DeepSeek-V3 report, section 2.2): hidden state and embedding of the last token are
// joined, pass one layer like the model's last, and the model's own head.
std::vector<LoweredOperator> draft(const models::ModelDescription& model, const Parallelism& spread,
                                   const LowerOptions& options) {
  Writer writer(model, spread, options);
  writer.gemm("joining projection", Part::rest, Rows::tokens, model.hidden, 2 * model.hidden);
  for (auto& one : lower_layer(model, model.layers.back(), spread, options)) writer.add(std::move(one));
  for (auto& one : lower_head(model, spread, options)) {
    one.shares_weights = true;
    writer.add(std::move(one));
  }
  std::vector<LoweredOperator> out;
  for (LoweredOperator& one : writer.out) {
    const bool prefill_only =
        one.op.find("context") != std::string::npos ||
        (std::holds_alternative<GemmSizes>(one.sizes) && std::get<GemmSizes>(one.sizes).rows == Rows::expanded);
    if (prefill_only) continue;
    std::visit(AsDraft{}, one.sizes);
    one.name = "draft: " + one.name;
    one.each_draft = true;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace
}  // namespace lowering

using lowering::kHalf;
using lowering::real;
using lowering::Writer;
using models::Part;

Fusions fusions_of(std::string_view framework) {
  const bool trtllm = framework == "trtllm";
  return {trtllm, trtllm};
}

std::int64_t rows_of(Rows rows, const StepTokens& tokens) {
  switch (rows) {
    case Rows::tokens:
      return tokens.tokens();
    case Rows::logits:
      return tokens.logits();
    case Rows::prefill:
      return tokens.prefill_tokens();
    case Rows::expanded:
      return tokens.prefill.sequences * (tokens.prefill.tokens + tokens.prefill.prefix);
    case Rows::decode:
      return tokens.decode_tokens();
    case Rows::drafting:
      return tokens.decode.sequences;
  }
  return 0;
}

namespace {

std::int64_t whole_bytes(double bytes) { return static_cast<std::int64_t>(std::ceil(bytes)); }

// The shape of one call, without looking whether the step runs it.
struct ShapeOf {
  const LoweredOperator& lowered;
  const StepTokens& tokens;

  std::optional<Shape> operator()(const GemmSizes& sizes) const {
    const std::int64_t m = rows_of(sizes.rows, tokens);
    if (m == 0) return std::nullopt;
    return Shape{m, sizes.n, sizes.k};
  }
  std::optional<Shape> operator()(const AttentionSizes& sizes) const {
    if (lowered.op == "context_attention") {
      const StepTokens::Prefill& p = tokens.prefill;
      if (p.sequences == 0) return std::nullopt;
      return Shape{p.sequences, p.tokens, sizes.heads, sizes.kv_heads, sizes.head_dim, sizes.window, p.prefix};
    }
    const StepTokens::Decode& d = tokens.decode;
    if (d.sequences == 0) return std::nullopt;
    return Shape{d.sequences, d.context, sizes.heads * checked(), sizes.kv_heads, sizes.head_dim, sizes.window};
  }
  std::optional<Shape> operator()(const MlaCallSizes& sizes) const {
    if (lowered.op == "context_mla") {
      const StepTokens::Prefill& p = tokens.prefill;
      if (p.sequences == 0) return std::nullopt;
      return Shape{p.sequences, p.tokens, sizes.heads, p.prefix};
    }
    const StepTokens::Decode& d = tokens.decode;
    if (d.sequences == 0) return std::nullopt;
    const std::int64_t keys = sizes.most_keys > 0 ? std::min(sizes.most_keys, d.context) : d.context;
    return Shape{d.sequences, keys, sizes.heads * checked()};
  }
  std::optional<Shape> operator()(const MoeSizes& sizes) const {
    const std::int64_t rows = rows_of(sizes.rows, tokens) * sizes.ranks;
    if (rows == 0) return std::nullopt;
    return Shape{rows, sizes.hidden, sizes.inter, sizes.experts, sizes.topk, sizes.tp, sizes.ep, sizes.distribution};
  }
  std::optional<Shape> operator()(const CollectiveSizes& sizes) const {
    const std::int64_t rows = rows_of(sizes.rows, tokens);
    if (rows == 0) return std::nullopt;
    return Shape{whole_bytes(real(rows) * sizes.bytes_per_row)};
  }
  std::optional<Shape> operator()(const MemorySizes& sizes) const {
    const double rows = real(rows_of(sizes.rows, tokens));
    if (rows == 0.0) return std::nullopt;
    return Shape{whole_bytes(rows * sizes.read_per_row), whole_bytes(rows * sizes.written_per_row)};
  }
  std::optional<Shape> operator()(const BoundSizes& /*sizes*/) const { return std::nullopt; }

  // Tokens that a draft proposed are checked with the new one: more queries on the same keys.
  [[nodiscard]] std::int64_t checked() const { return lowered.each_draft ? 1 : 1 + tokens.decode.drafted; }
};

Work bound_work(const LoweredOperator& lowered, const BoundSizes& sizes, const StepTokens& tokens) {
  const double rows = real(rows_of(sizes.rows, tokens));
  const auto most = real(sizes.most_keys);
  double pairs = 0.0;
  double keys = 0.0;
  double sequences = 0.0;
  using Attends = BoundSizes::Attends;
  if (sizes.attends == Attends::prefill || sizes.attends == Attends::both) {
    const StepTokens::Prefill& p = tokens.prefill;
    const double count = real(p.sequences);
    pairs += count * causal_pairs(real(p.tokens), real(p.prefix), most);
    keys += count * real(p.prefix);
  }
  if (sizes.attends == Attends::decode || sizes.attends == Attends::both) {
    const StepTokens::Decode& d = tokens.decode;
    const double visible = most > 0.0 ? std::min(most, real(d.context)) : real(d.context);
    pairs += real(lowered.each_draft ? d.sequences : tokens.decode_tokens()) * visible;
    keys += real(d.sequences) * visible;
  }
  if (sizes.state_per_sequence > 0.0) sequences = real(tokens.sequences());
  Work work;
  work.rate = sizes.rate;
  work.flops = Flops(rows * sizes.flops_per_row + pairs * sizes.flops_per_pair);
  work.bytes_read = lowered.weight_bytes +
                    Bytes(rows * sizes.read_per_row + keys * sizes.read_per_key + sequences * sizes.state_per_sequence);
  work.bytes_written = Bytes(rows * sizes.written_per_row + sequences * sizes.state_per_sequence);
  return work;
}

}  // namespace

std::optional<Shape> shape_of(const LoweredOperator& lowered, const StepTokens& tokens) {
  if (lowered.each_draft && tokens.decode.drafted == 0) return std::nullopt;
  return std::visit(ShapeOf{lowered, tokens}, lowered.sizes);
}

std::optional<Work> work_of(const LoweredOperator& lowered, const StepTokens& tokens) {
  if (const auto* sizes = std::get_if<BoundSizes>(&lowered.sizes)) {
    if (lowered.each_draft && tokens.decode.drafted == 0) return std::nullopt;
    if (rows_of(sizes->rows, tokens) == 0) return std::nullopt;
    return bound_work(lowered, *sizes, tokens);
  }
  const auto shape = shape_of(lowered, tokens);
  if (!shape) return std::nullopt;
  return lowered.table()->work(lowered.attributes, *shape);
}

std::vector<LoweredOperator> lower_layer(const models::ModelDescription& model, const models::Layer& layer,
                                         const Parallelism& spread, const LowerOptions& options) {
  Writer writer(model, spread, options);
  const double hidden = real(model.hidden);
  // Each normalisation takes the residual sum with it.
  const bool fused = options.fusions.norm_in_all_reduce && spread.tp > 1 && spread.dp == 1;
  for (std::int64_t i = 0; i < layer.norms && !fused; ++i) {
    writer.memory("residual and norm", Rows::tokens, 2 * hidden, 2 * hidden);
  }
  lowering::lower_mixer(writer, layer);
  const bool has_mixer = !std::holds_alternative<std::monostate>(layer.mixer);
  // With a single norm attention and feed-forward layer work side by side and their sum is reduced once.
  const bool side_by_side = layer.norms == 1 && (layer.dense || layer.moe);
  if (has_mixer && !side_by_side) {
    writer.collective("all-reduce", "all_reduce", spread.tp, Rows::tokens, kHalf * hidden);
  }
  lowering::lower_ffn(writer, layer);
  if (layer.per_layer_input > 0) {
    writer.gemm("per-layer input gate", Part::rest, Rows::tokens, layer.per_layer_input, model.hidden);
    writer.gemm("per-layer input projection", Part::rest, Rows::tokens, model.hidden, layer.per_layer_input);
  }
  std::vector<LoweredOperator> out;
  lowering::merge(out, std::move(writer.out), 1.0);
  return out;
}

std::vector<LoweredOperator> lower_embedding(const models::ModelDescription& model, const Parallelism& spread,
                                             const LowerOptions& options) {
  Writer writer(model, spread, options);
  const double width = real(model.embedding_width);
  writer.memory("embedding", Rows::tokens, width * (model.learned_positions > 0 ? 2.0 : 1.0), width);
  writer.collective("all-reduce", "all_reduce", spread.tp, Rows::tokens, kHalf * real(model.hidden));
  if (model.embedding_width != model.hidden) {
    writer.gemm("embedding projection", Part::rest, Rows::tokens, model.hidden, model.embedding_width);
  }
  if (model.per_layer_vocab > 0) {
    const std::int64_t all = model.layers.front().per_layer_input * static_cast<std::int64_t>(model.layers.size());
    writer.memory("per-layer embedding", Rows::tokens, real(all), real(all));
    writer.gemm("per-layer input projections", Part::rest, Rows::tokens, all, model.hidden);
  }
  std::vector<LoweredOperator> out;
  lowering::merge(out, std::move(writer.out), 1.0);
  return out;
}

std::vector<LoweredOperator> lower_head(const models::ModelDescription& model, const Parallelism& spread,
                                        const LowerOptions& options) {
  Writer writer(model, spread, options);
  const double hidden = real(model.hidden);
  if (model.final_norm) writer.memory("residual and norm", Rows::tokens, 2 * hidden, 2 * hidden);
  if (model.embedding_width != model.hidden) {
    writer.gemm("head projection", Part::rest, Rows::logits, model.embedding_width, model.hidden);
  }
  const std::int64_t vocab = (model.vocab + spread.tp - 1) / spread.tp;
  writer.gemm("logits", Part::head, Rows::logits, vocab, model.embedding_width);
  writer.collective("logits all-gather", "all_gather", spread.tp, Rows::logits, kHalf * real(vocab * spread.tp));
  BoundSizes sampling;  // reads the logits twice (largest, then sum) at 32 bits, writes probabilities once
  sampling.rows = Rows::logits;
  sampling.read_per_row = 8.0 * real(model.vocab);
  sampling.written_per_row = 4.0 * real(model.vocab);
  writer.bound("sampling", "sampling", sampling);
  std::vector<LoweredOperator> out;
  lowering::merge(out, std::move(writer.out), 1.0);
  return out;
}

std::vector<LoweredOperator> lower(const models::ModelDescription& model, const Parallelism& spread,
                                   const LowerOptions& options) {
  std::vector<LoweredOperator> out;
  lowering::merge(out, lower_embedding(model, spread, options), 1.0);
  for (const models::LayerKind& kind : models::kinds_of(model.layers)) {
    lowering::merge(out, lower_layer(model, kind.layer, spread, options), real(kind.count));
  }
  if (spread.pp > 1) {
    Writer writer(model, spread, options);
    writer.collective("send to next stage", "send_recv", 2, Rows::tokens, kHalf * real(model.hidden));
    lowering::merge(out, std::move(writer.out), real(spread.pp - 1));
  }
  lowering::merge(out, lower_head(model, spread, options), 1.0);
  if (options.drafting) lowering::merge(out, lowering::draft(model, spread, options), 1.0);
  return out;
}

}  // namespace roofcal
