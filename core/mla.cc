#include "core/mla.h"

#include <array>

#include "core/attention.h"
#include "core/table_row.h"

namespace roofcal {
namespace {

constexpr std::int64_t kMaxTokens = std::int64_t{1} << 27;

constexpr Field kBatch{"batch", 1, std::int64_t{1} << 20, std::nullopt, "sequences"};
constexpr Field kHeads{"heads", 1, 4096, std::nullopt, "query heads of one GPU"};

enum : std::size_t { batch, seq, heads, prefix };

class Mla : public Operator {
 public:
  std::string_view family() const final { return "mla"; }

  std::span<const AttributeField> attributes() const final {
    static constexpr std::array<AttributeField, 2> attributes{
        {{"dtype", "bfloat16", "number format of the products: bfloat16, fp8, ...", canonical_dtype},
         {"kv-dtype", "=dtype", "number format of the latent cache: bfloat16, fp8, ...", canonical_dtype}}};
    return attributes;
  }

 protected:
  // An fp8 cache lets a kernel multiply in fp8 as well: the bound assumes the faster of the two.
  static Rate rate(const Attributes& attributes) {
    const Rate cache = find_dtype(attributes.at("kv-dtype"))->rate;
    return cache == Rate::fp8 ? cache : find_dtype(attributes.at("dtype"))->rate;
  }

  // `num_heads` of the tables is per GPU already (times scale with it and not with `tp_size`), so `tp_size` is not
  // read.
  static TableRow common_row(const Operator& op, const Cells& cells) {
    TableRow row(op, cells);
    row.attribute("dtype", "mla_dtype");
    row.attribute("kv-dtype", "kv_cache_dtype");
    row.field("batch", "batch_size");
    row.field("heads", "num_heads");
    return row;
  }
};

class ContextMla final : public Mla {
 public:
  std::string_view name() const override { return "context_mla"; }
  std::string_view phase() const override { return "context"; }
  std::string_view help() const override { return "multi-head latent attention of a prompt (prefill)"; }

  std::span<const Field> fields() const override {
    static constexpr std::array<Field, 4> fields{
        {kBatch,
         {"seq", 1, kMaxTokens, std::nullopt, "new tokens a sequence"},
         kHeads,
         {"prefix", 0, kMaxTokens, 0, "tokens a sequence that are already cached"}}};
    return fields;
  }

  Work work(const Attributes& attributes, const Shape& shape) const override {
    const double kv_bytes = find_dtype(attributes.at("kv-dtype"))->weight_bytes;
    const auto sequences = static_cast<double>(shape[batch]);
    const auto tokens = static_cast<double>(shape[seq]);
    const auto cached = static_cast<double>(shape[prefix]);
    const auto head_count = static_cast<double>(shape[heads]);
    Work work;
    work.flops = Flops(2.0 * sequences * head_count * (MlaSizes::qk + MlaSizes::v) * causal_pairs(tokens, cached, 0.0));
    work.rate = rate(attributes);
    work.bytes_read = Bytes(sequences * (tokens * head_count * 2.0 * (2.0 * MlaSizes::qk + MlaSizes::v) +
                                         cached * MlaSizes::latent * kv_bytes));
    work.bytes_written = Bytes(sequences * tokens * (head_count * 2.0 * MlaSizes::v + MlaSizes::latent * kv_bytes));
    return work;
  }

  std::span<const std::string_view> table_names() const override {
    static constexpr std::array<std::string_view, 2> names{"mla_context", "context_mla"};
    return names;
  }

  Result<Call> from_table(const Cells& cells) const override {
    TableRow row = common_row(*this, cells);
    row.field("seq", "isl");
    row.field("prefix", "step", 0);
    return std::move(row).call();
  }
};

class GenerationMla final : public Mla {
 public:
  std::string_view name() const override { return "generation_mla"; }
  std::string_view phase() const override { return "generation"; }
  std::string_view help() const override { return "multi-head latent attention of one new token a sequence (decode)"; }

  std::span<const Field> fields() const override {
    static constexpr std::array<Field, 3> fields{
        {kBatch, {"seq", 1, kMaxTokens, std::nullopt, "cached tokens, the new one among them"}, kHeads}};
    return fields;
  }

  Work work(const Attributes& attributes, const Shape& shape) const override {
    const double kv_bytes = find_dtype(attributes.at("kv-dtype"))->weight_bytes;
    const auto sequences = static_cast<double>(shape[batch]);
    const auto tokens = static_cast<double>(shape[seq]);
    const auto head_count = static_cast<double>(shape[heads]);
    Work work;
    work.flops = Flops(2.0 * sequences * head_count * (MlaSizes::latent + MlaSizes::latent_v) * tokens);
    work.rate = rate(attributes);
    work.bytes_read = Bytes(sequences * (tokens * MlaSizes::latent * kv_bytes + head_count * 2.0 * MlaSizes::latent));
    work.bytes_written = Bytes(sequences * head_count * 2.0 * MlaSizes::latent_v);
    return work;
  }

  std::span<const std::string_view> table_names() const override {
    static constexpr std::array<std::string_view, 2> names{"mla_generation", "generation_mla"};
    return names;
  }

  Result<Call> from_table(const Cells& cells) const override {
    TableRow row = common_row(*this, cells);
    row.set("seq", row.number("isl") + row.number("step", 0));  // as in generation attention
    return std::move(row).call();
  }
};

}  // namespace

const Operator& context_mla_operator() {
  static const ContextMla mla;
  return mla;
}

const Operator& generation_mla_operator() {
  static const GenerationMla mla;
  return mla;
}

}  // namespace roofcal
