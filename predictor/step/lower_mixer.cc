// Attention of every kind as operators of one GPU.
#include <algorithm>

#include "core/mla.h"
#include "predictor/models/counts.h"
#include "predictor/step/lowering.h"

namespace roofcal::lowering {
namespace {

using models::Attention;
using models::Indexer;
using models::LinearAttention;
using models::Mla;
using models::Part;

constexpr double kHalf = 2.0;  // bytes of a 16-bit value

double cache_bytes(const Writer& writer) { return find_dtype(writer.model.formats.kv_cache)->weight_bytes; }

// Attention multiplies at 16 bits whatever the weights are stored in; only the cache may be narrower.
Attributes attention_attributes(const Writer& writer) {
  return {{"dtype", writer.model.formats.base}, {"kv-dtype", writer.model.formats.kv_cache}};
}

void attention(Writer& writer, const Attention& attention) {
  const std::int64_t tp = writer.spread.tp;
  const std::int64_t hidden = writer.model.hidden;
  const std::int64_t heads = attention.heads / tp;
  // More GPUs than key/value heads: each head is on several GPUs.
  const std::int64_t kv_heads = std::max<std::int64_t>(1, attention.kv_heads / tp);
  const std::int64_t q = heads * attention.head_dim;
  const std::int64_t kv = kv_heads * attention.head_dim;
  const std::int64_t keys_values = attention.borrows_cache ? 0 : attention.key_is_value ? kv : 2 * kv;
  const std::int64_t gate = attention.output_gate ? q : 0;

  writer.gemm(attention.borrows_cache ? "query projection" : "qkv projection", Part::attention, Rows::tokens,
              q + gate + keys_values, hidden);
  if (attention.qk_norm != Attention::QkNorm::none) {
    const double normed = real(q) + (attention.borrows_cache ? 0.0 : real(kv));
    writer.memory("query and key norm", Rows::tokens, normed, normed);
  }
  // The attention call writes the new keys and values to the cache.
  if (!writer.options.fusions.rotary_in_attention) {
    const double rotated = real(q) + (attention.borrows_cache ? 0.0 : real(kv));
    writer.memory("rotary embedding", Rows::tokens, rotated, rotated);
  }
  for (const char* phase : {"context_attention", "generation_attention"}) {
    LoweredOperator call;
    call.name = attention.window > 0 ? "sliding attention" : "attention";
    call.op = phase;
    call.attributes = attention_attributes(writer);
    call.sizes = AttentionSizes{heads, kv_heads, attention.head_dim, attention.window};
    writer.add(std::move(call));
  }
  if (attention.output_gate) writer.memory("output gate", Rows::tokens, real(2 * q), real(q));
  writer.gemm("output projection", Part::attention, Rows::tokens, hidden, q);
}

bool has_table(const Mla& mla) {
  return real(mla.kv_rank + mla.rope_dim) == MlaSizes::latent && real(mla.kv_rank) == MlaSizes::latent_v &&
         real(mla.nope_dim + mla.rope_dim) == MlaSizes::qk && real(mla.v_dim) == MlaSizes::v;
}

// The lightning indexer: one key a token, a few small query heads that score every cached key; every GPU does all.
void indexer(Writer& writer, const Mla& mla, const Indexer& index) {
  const double hidden = real(writer.model.hidden);
  const double heads = real(index.heads);
  const double dim = real(index.head_dim);
  writer.gemm("indexer queries", Part::attention, Rows::tokens, index.heads * index.head_dim,
              mla.q_rank > 0 ? mla.q_rank : writer.model.hidden);
  BoundSizes keys;
  keys.flops_per_row = 2.0 * hidden * (dim + heads);
  keys.read_per_row = kHalf * hidden;
  keys.written_per_row = dim + 4.0 + kHalf * heads;
  writer.bound("indexer keys and weights", "indexer_projection", keys, hidden * (dim + heads));
  BoundSizes scores;
  scores.rate = Rate::fp8;
  scores.read_per_row = heads * dim;
  scores.written_per_row = 4.0 * real(index.topk);  // the chosen positions
  scores.attends = BoundSizes::Attends::both;
  scores.flops_per_pair = 2.0 * heads * dim;
  scores.read_per_key = dim + 4.0;
  writer.bound("indexer", "sparse_indexer", scores);
}

// The attention itself, where the tables' sizes are not the model's: by its work. On expanded heads for prompts, on the
// latent for decode and wherever only some keys are looked at.
void latent_bound(Writer& writer, const Mla& mla, std::int64_t heads, BoundSizes::Attends phase, std::int64_t most) {
  const bool expanded = phase == BoundSizes::Attends::prefill && most == 0;
  const double h = real(heads);
  const double qk = expanded ? real(mla.nope_dim + mla.rope_dim) : real(mla.kv_rank + mla.rope_dim);
  const double v = expanded ? real(mla.v_dim) : real(mla.kv_rank);
  BoundSizes sizes;
  sizes.rows = phase == BoundSizes::Attends::decode ? Rows::decode : Rows::prefill;
  sizes.attends = phase;
  sizes.most_keys = most;
  sizes.flops_per_pair = 2.0 * h * (qk + v);
  sizes.read_per_row = kHalf * h * (expanded ? 2.0 * qk + v : qk);
  sizes.written_per_row = kHalf * h * v;
  sizes.read_per_key = real(mla.kv_rank + mla.rope_dim) * cache_bytes(writer);
  writer.bound("attention", phase == BoundSizes::Attends::decode ? "sparse_generation_mla" : "sparse_context_mla",
               sizes);
  if (most == 0)
    writer.out.back().op = phase == BoundSizes::Attends::decode ? "other_generation_mla" : "other_context_mla";
}

void latent_calls(Writer& writer, const Mla& mla, std::int64_t heads) {
  const std::int64_t most = mla.indexer ? mla.indexer->topk : 0;
  if (!has_table(mla)) {
    latent_bound(writer, mla, heads, BoundSizes::Attends::prefill, most);
    latent_bound(writer, mla, heads, BoundSizes::Attends::decode, most);
    return;
  }
  if (most > 0) {
    latent_bound(writer, mla, heads, BoundSizes::Attends::prefill, most);
  } else {
    LoweredOperator prefill;
    prefill.name = "attention";
    prefill.op = "context_mla";
    prefill.attributes = attention_attributes(writer);
    prefill.sizes = MlaCallSizes{heads, 0};
    writer.add(std::move(prefill));
  }
  LoweredOperator decode;
  decode.name = "attention";
  decode.op = "generation_mla";
  decode.attributes = attention_attributes(writer);
  decode.sizes = MlaCallSizes{heads, most};
  if (most > 0) decode.stand_in = "sparse attention is priced as dense latent attention over the keys that it chooses";
  writer.add(std::move(decode));
}

void mla(Writer& writer, const Mla& mla) {
  const std::int64_t hidden = writer.model.hidden;
  const std::int64_t heads = mla.heads / writer.spread.tp;
  const std::int64_t latent = mla.kv_rank + mla.rope_dim;
  // The down projections are small and every GPU does all of them.
  writer.gemm("latent projection", Part::attention, Rows::tokens, (mla.q_rank > 0 ? mla.q_rank : 0) + latent, hidden);
  writer.memory("latent norm", Rows::tokens, real(mla.q_rank + mla.kv_rank), real(mla.q_rank + mla.kv_rank));
  writer.gemm("query projection", Part::attention, Rows::tokens, heads * (mla.nope_dim + mla.rope_dim),
              mla.q_rank > 0 ? mla.q_rank : hidden);
  if (!writer.options.fusions.rotary_in_attention) {
    const double rotated = real((heads + 1) * mla.rope_dim);
    writer.memory("rotary embedding", Rows::tokens, rotated, rotated);
  }
  if (mla.indexer) indexer(writer, mla, *mla.indexer);

  // Keys and values from the latent. Prompts: one product. Decode: the same weights on the queries' and the outputs'
  // side, one small product a head, kept at 16 bits.
  const std::int64_t n = heads * (mla.nope_dim + mla.v_dim);
  const double weights = real(n) * real(mla.kv_rank);
  BoundSizes absorbed;
  absorbed.rows = Rows::decode;
  absorbed.flops_per_row = 2.0 * weights;
  absorbed.read_per_row = kHalf * real(heads) * real(mla.nope_dim + mla.kv_rank);
  absorbed.written_per_row = kHalf * real(heads) * real(mla.kv_rank + mla.v_dim);
  if (mla.indexer) {
    absorbed.rows = Rows::tokens;  // sparse attention works on the latent for prompts too
    writer.bound("absorbed key and value projection", "absorbed_projection", absorbed, weights);
  } else {
    writer.gemm("key and value projection", Part::attention, Rows::expanded, n, mla.kv_rank);
    writer.bound("absorbed key and value projection", "absorbed_projection", absorbed, weights);
    writer.out.back().shares_weights = true;
  }
  latent_calls(writer, mla, heads);
  writer.gemm("output projection", Part::attention, Rows::tokens, hidden, heads * mla.v_dim);
}

// Gated delta rule (arXiv 2412.06464): decay, correct and extend a key x value state a head, then read it.
void linear(Writer& writer, const LinearAttention& linear) {
  const std::int64_t tp = writer.spread.tp;
  const std::int64_t keys = linear.key_heads * linear.key_dim / tp;
  const std::int64_t values = linear.value_heads * linear.value_dim / tp;
  const std::int64_t heads = linear.value_heads / tp;
  writer.gemm("linear attention projection", Part::attention, Rows::tokens, 2 * keys + 2 * values + 2 * heads,
              writer.model.hidden);
  writer.memory("convolution", Rows::tokens, real(2 * keys + values), real(2 * keys + values));
  BoundSizes state;
  const double cells = real(heads * linear.key_dim) * real(linear.value_dim);
  state.flops_per_row = 7.0 * cells;  // decay 1, read for the correction 2, write 2, read for the output 2
  state.read_per_row = kHalf * real(2 * keys + values + 2 * heads);
  state.written_per_row = kHalf * real(values);
  state.state_per_sequence = 4.0 * cells + kHalf * real((2 * keys + values) * (linear.conv_width - 1));
  writer.bound("linear attention", "linear_attention", state);
  writer.memory("gated norm", Rows::tokens, real(2 * values), real(values));
  writer.gemm("output projection", Part::attention, Rows::tokens, writer.model.hidden, values);
}

struct MixerOperators {
  Writer& writer;
  void operator()(std::monostate /*none*/) const {}
  void operator()(const Attention& part) const { attention(writer, part); }
  void operator()(const Mla& part) const { mla(writer, part); }
  void operator()(const LinearAttention& part) const { linear(writer, part); }
};

}  // namespace

void lower_mixer(Writer& writer, const models::Layer& layer) { std::visit(MixerOperators{writer}, layer.mixer); }

}  // namespace roofcal::lowering
