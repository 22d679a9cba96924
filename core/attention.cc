#include "core/attention.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/table_row.h"

namespace roofcal {
namespace {

constexpr std::int64_t kMaxBatch = std::int64_t{1} << 20;
constexpr std::int64_t kMaxTokens = std::int64_t{1} << 27;
constexpr std::int64_t kMaxHeads = 4096;
constexpr std::int64_t kMaxHeadDim = 4096;

constexpr Field kBatch{"batch", 1, kMaxBatch, std::nullopt, "sequences"};
constexpr Field kHeads{"heads", 1, kMaxHeads, std::nullopt, "query heads of one GPU"};
constexpr Field kKvHeads{"kv-heads", 1, kMaxHeads, std::nullopt, "key/value heads of one GPU"};
constexpr Field kHeadDim{"head-dim", 1, kMaxHeadDim, std::nullopt, "size of a head"};
constexpr Field kWindow{"window", 0, kMaxTokens, 0, "keys that a query sees at most; 0: all"};

// Both operators list these fields in this order; the context one adds the prefix.
enum : std::size_t { batch, seq, heads, kv_heads, head_dim, window, prefix };

class Attention : public Operator {
 public:
  std::string_view family() const final { return "attention"; }

  std::span<const AttributeField> attributes() const final {
    static constexpr std::array<AttributeField, 2> attributes{
        {{"dtype", "bfloat16", "number format of the products: bfloat16, fp8, ...", canonical_dtype},
         {"kv-dtype", "=dtype", "number format of the key/value cache: bfloat16, fp8, ...", canonical_dtype}}};
    return attributes;
  }

  Result<void> check(const Attributes& /*attributes*/, const Shape& shape) const final {
    if (shape[heads] % shape[kv_heads] != 0) {
      return Error{ErrorCode::usage, "heads " + std::to_string(shape[heads]) + " is not a multiple of kv-heads " +
                                         std::to_string(shape[kv_heads])};
    }
    return {};
  }

 protected:
  // The columns that the tables of both phases share.
  static TableRow common_row(const Operator& op, const Cells& cells) {
    TableRow row(op, cells);
    row.attribute("dtype", "attn_dtype");
    row.attribute("kv-dtype", "kv_cache_dtype");
    row.field("batch", "batch_size");
    row.field("heads", "num_heads");
    row.field("kv-heads", "num_key_value_heads");
    row.field("head-dim", "head_dim");
    row.field("window", "window_size", 0);
    return row;
  }

  // Beam search shares prefixes between beams: other work than a plain batch.
  static std::optional<Error> beam_complaint(const Cells& cells) {
    const auto beams = cells("beam_width");
    if (beams && !beams->empty() && *beams != "1") {
      return Error{ErrorCode::bad_data, "beam_width " + std::string(*beams) + ": only 1 (no beam search) is modelled"};
    }
    return std::nullopt;
  }
};

class ContextAttention final : public Attention {
 public:
  std::string_view name() const override { return "context_attention"; }
  std::string_view phase() const override { return "context"; }
  std::string_view help() const override { return "causal attention of a prompt (prefill)"; }

  std::span<const Field> fields() const override {
    static constexpr std::array<Field, 7> fields{
        {kBatch,
         {"seq", 1, kMaxTokens, std::nullopt, "new tokens a sequence"},
         kHeads,
         kKvHeads,
         kHeadDim,
         kWindow,
         {"prefix", 0, kMaxTokens, 0, "tokens a sequence that are already cached"}}};
    return fields;
  }

  Work work(const Attributes& attributes, const Shape& shape) const override {
    const DType& dtype = *find_dtype(attributes.at("dtype"));
    const double kv_bytes = find_dtype(attributes.at("kv-dtype"))->weight_bytes;
    const auto sequences = static_cast<double>(shape[batch]);
    const auto tokens = static_cast<double>(shape[seq]);
    const auto cached = static_cast<double>(shape[prefix]);
    const auto keys = static_cast<double>(shape[window]);
    const auto dim = static_cast<double>(shape[head_dim]);
    const double query_width = static_cast<double>(shape[heads]) * dim;
    const double kv_width = 2.0 * static_cast<double>(shape[kv_heads]) * dim;
    Work work;
    work.flops = Flops(4.0 * sequences * query_width * causal_pairs(tokens, cached, keys));
    work.rate = dtype.rate;
    work.bytes_read = Bytes(
        sequences * (tokens * 2.0 * (query_width + kv_width) + visible_prefix(cached, keys) * kv_width * kv_bytes));
    work.bytes_written = Bytes(sequences * tokens * (2.0 * query_width + kv_width * kv_bytes));
    return work;
  }

  std::span<const std::string_view> table_names() const override {
    static constexpr std::array<std::string_view, 1> names{"context_attention"};
    return names;
  }

  Result<Call> from_table(const Cells& cells) const override {
    if (auto complaint = beam_complaint(cells)) {
      return *std::move(complaint);
    }
    TableRow row = common_row(*this, cells);
    row.field("seq", "isl");
    row.field("prefix", "step", 0);
    return std::move(row).call();
  }
};

class GenerationAttention final : public Attention {
 public:
  std::string_view name() const override { return "generation_attention"; }
  std::string_view phase() const override { return "generation"; }
  std::string_view help() const override { return "attention of one new token a sequence (decode)"; }

  std::span<const Field> fields() const override {
    static constexpr std::array<Field, 6> fields{
        {kBatch,
         {"seq", 1, kMaxTokens, std::nullopt, "key/value length: cached tokens, the new one among them"},
         kHeads,
         kKvHeads,
         kHeadDim,
         kWindow}};
    return fields;
  }

  Work work(const Attributes& attributes, const Shape& shape) const override {
    const DType& dtype = *find_dtype(attributes.at("dtype"));
    const DType& kv_dtype = *find_dtype(attributes.at("kv-dtype"));
    const auto sequences = static_cast<double>(shape[batch]);
    const double visible = static_cast<double>(shape[window] > 0 ? std::min(shape[seq], shape[window]) : shape[seq]);
    const auto dim = static_cast<double>(shape[head_dim]);
    const double query_width = static_cast<double>(shape[heads]) * dim;
    const double kv_width = 2.0 * static_cast<double>(shape[kv_heads]) * dim;
    Work work;
    work.flops = Flops(4.0 * sequences * query_width * visible);
    work.rate = kv_dtype.rate == Rate::fp8 ? Rate::fp8 : dtype.rate;
    work.bytes_read = Bytes(sequences * (2.0 * query_width + visible * kv_width * kv_dtype.weight_bytes));
    work.bytes_written = Bytes(sequences * (2.0 * query_width + kv_width * kv_dtype.weight_bytes));
    return work;
  }

  std::span<const std::string_view> table_names() const override {
    static constexpr std::array<std::string_view, 1> names{"generation_attention"};
    return names;
  }

  Result<Call> from_table(const Cells& cells) const override {
    if (auto complaint = beam_complaint(cells)) {
      return *std::move(complaint);
    }
    TableRow row = common_row(*this, cells);
    // The tables split the key/value length: `isl` tokens of this step behind `step` cached ones.
    row.set("seq", row.number("isl") + row.number("step", 0));
    return std::move(row).call();
  }
};

}  // namespace

double causal_pairs(double seq, double prefix, double window) {
  if (window <= 0.0) {
    return seq * prefix + seq * (seq + 1.0) / 2.0;
  }
  const double growing = std::clamp(window - prefix, 0.0, seq);  // queries that see every key before them
  return growing * prefix + growing * (growing + 1.0) / 2.0 + (seq - growing) * window;
}

double visible_prefix(double prefix, double window) { return window > 0.0 ? std::min(prefix, window - 1.0) : prefix; }

const Operator& context_attention_operator() {
  static const ContextAttention attention;
  return attention;
}

const Operator& generation_attention_operator() {
  static const GenerationAttention attention;
  return attention;
}

}  // namespace roofcal
