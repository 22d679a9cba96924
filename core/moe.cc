#include "core/moe.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/table_row.h"

namespace roofcal {
namespace {

constexpr std::int64_t kMaxTokens = std::int64_t{1} << 31;
constexpr std::int64_t kMaxWidth = std::int64_t{1} << 24;
constexpr std::int64_t kMaxExperts = 1 << 14;
constexpr std::int64_t kMaxAlpha = 100'000;
constexpr std::string_view kPowerLaw = "power_law_";

std::optional<std::string> yes_or_no(std::string_view text) {
  if (text == "yes" || text == "true" || text == "1") return "yes";
  if (text == "no" || text == "false" || text == "0") return "no";
  return std::nullopt;
}

// Whether a row timed experts without a gate. TensorRT-LLM's kernels say so. vLLM's do not: its newer collector times
// the relu^2 experts of Nemotron-H without a gate (they run at the others' rate only when two matrices are counted),
// version 0.14 timed the same sizes gated.
bool ungated(const Cells& cells) {
  const auto cell = [&cells](std::string_view column) { return cells(column).value_or(""); };
  if (cell("kernel_source").find("nongated") != std::string_view::npos) {
    return true;
  }
  if (!cell("kernel_source").starts_with("vllm_") || cell("version").starts_with("0.14.")) {
    return false;
  }
  return cell("topk") == "22" || (cell("hidden_size") == "2688" && cell("inter_size") == "1856" && cell("topk") == "6");
}

class Moe final : public Operator {
 public:
  std::string_view name() const override { return "moe"; }
  std::string_view help() const override { return "fused mixture of experts: both GEMMs of the experts of one GPU"; }

  std::span<const Field> fields() const override {
    static constexpr std::array<Field, 8> fields{
        {{"tokens", 1, kMaxTokens, std::nullopt, "tokens of all ranks that share the experts"},
         {"hidden", 1, kMaxWidth, std::nullopt, "model width"},
         {"inter", 1, kMaxWidth, std::nullopt, "width of an expert, before it is split over tp"},
         {"experts", 1, kMaxExperts, std::nullopt, "experts of the layer"},
         {"topk", 1, kMaxExperts, std::nullopt, "experts that a token takes"},
         {"tp", 1, kMaxExperts, 1, "ranks that split each expert"},
         {"ep", 1, kMaxExperts, 1, "ranks that share the experts out"},
         {"distribution", 0, kMaxAlpha, 0, "balanced, power_law_1.2, ...", parse_distribution, print_distribution}}};
    return fields;
  }

  std::span<const AttributeField> attributes() const override {
    static constexpr std::array<AttributeField, 2> attributes{
        {{"dtype", "bfloat16", "number format: bfloat16, fp8, fp8_block, nvfp4, ...", canonical_dtype},
         {"gated", "yes", "whether an expert has a gate matrix: yes or no", yes_or_no}}};
    return attributes;
  }

  Result<void> check(const Attributes& /*attributes*/, const Shape& shape) const override {
    const auto size = [&shape](MoeField field) { return moe_size(shape, field); };
    const auto divides = [&size](MoeField part, MoeField whole) { return size(whole) % size(part) == 0; };
    const auto text = [&size](MoeField field) { return std::to_string(size(field)); };
    if (size(MoeField::topk) > size(MoeField::experts)) {
      return Error{ErrorCode::usage,
                   "topk " + text(MoeField::topk) + " is more than the " + text(MoeField::experts) + " experts"};
    }
    if (!divides(MoeField::ep, MoeField::experts)) {
      return Error{ErrorCode::usage,
                   "experts " + text(MoeField::experts) + " is not a multiple of ep " + text(MoeField::ep)};
    }
    if (!divides(MoeField::tp, MoeField::inter)) {
      return Error{ErrorCode::usage,
                   "inter " + text(MoeField::inter) + " is not a multiple of tp " + text(MoeField::tp)};
    }
    return {};
  }

  Work work(const Attributes& attributes, const Shape& shape) const override {
    const DType& dtype = *find_dtype(attributes.at("dtype"));
    const double matrices = attributes.find("gated")->second == "yes" ? 3.0 : 2.0;
    const RouterLoad load = router_.load(router_question(shape));
    const auto hidden = static_cast<double>(moe_size(shape, MoeField::hidden));
    const double matrix = hidden * static_cast<double>(moe_size(shape, MoeField::inter)) /
                          static_cast<double>(moe_size(shape, MoeField::tp));
    const double tokens = std::min(static_cast<double>(moe_size(shape, MoeField::tokens)), load.assignments);
    Work work;
    work.flops = Flops(2.0 * load.assignments * matrices * matrix);
    work.rate = dtype.rate;
    work.bytes_read =
        Bytes(load.active_experts * matrices * matrix * dtype.weight_bytes + tokens * hidden * dtype.activation_bytes);
    work.bytes_written = Bytes(tokens * hidden * 2.0);
    return work;
  }

  std::span<const std::string_view> table_names() const override {
    static constexpr std::array<std::string_view, 1> names{"moe"};
    return names;
  }

  Result<Call> from_table(const Cells& cells) const override {
    TableRow row(*this, cells);
    row.attribute("dtype", "moe_dtype");
    row.attribute("gated", "gated", ungated(cells) ? "no" : "yes");
    row.field("tokens", "num_tokens");
    row.field("hidden", "hidden_size");
    row.field("inter", "inter_size");
    row.field("experts", "num_experts");
    row.field("topk", "topk");
    row.field("tp", "moe_tp_size", 1);
    row.field("ep", "moe_ep_size", 1);
    if (cells("distribution").value_or("").empty()) {
      row.set("distribution", 0);
    } else {
      row.field("distribution", "distribution");
    }
    return std::move(row).call();
  }

 private:
  RouterSimulator router_{Leftovers::each_rank};
};

}  // namespace

std::optional<std::int64_t> parse_distribution(std::string_view text) {
  if (text == "balanced") {
    return 0;
  }
  if (!text.starts_with(kPowerLaw)) {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(kPowerLaw.size());
  double alpha = 0.0;
  const auto* end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, alpha, std::chars_format::fixed);
  if (failure != std::errc{} || stop != end || !(alpha > 0.0 && alpha <= 100.0)) {
    return std::nullopt;
  }
  const double thousandths = std::nearbyint(alpha * 1000.0);
  if (thousandths < 1.0 || std::abs(thousandths - alpha * 1000.0) > 1e-6) {
    return std::nullopt;  // finer than a shape can say
  }
  return static_cast<std::int64_t>(thousandths);
}

std::string print_distribution(std::int64_t alpha) {
  if (alpha == 0) {
    return "balanced";
  }
  std::string decimals = std::to_string(alpha % 1000 + 1000).substr(1);  // three digits, leading zeros kept
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return std::string(kPowerLaw) + std::to_string(alpha / 1000) + (decimals.empty() ? "" : "." + decimals);
}

RouterQuestion router_question(const Shape& shape) {
  return {moe_size(shape, MoeField::tokens), moe_size(shape, MoeField::experts), moe_size(shape, MoeField::topk),
          moe_size(shape, MoeField::ep), moe_size(shape, MoeField::distribution)};
}

const Operator& moe_operator() {
  static const Moe moe;
  return moe;
}

}  // namespace roofcal
