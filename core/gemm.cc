#include "core/gemm.h"

#include <array>

#include "core/table_row.h"

namespace roofcal {
namespace {

constexpr std::int64_t kMaxDimension = std::int64_t{1} << 31;

class Gemm final : public Operator {
 public:
  std::string_view name() const override { return "gemm"; }
  std::string_view help() const override { return "matrix product of m x k activations and n x k weights"; }

  std::span<const Field> fields() const override {
    static constexpr std::array<Field, 3> fields{{
        {"m", 1, kMaxDimension, std::nullopt, "rows of the activations: tokens"},
        {"n", 1, kMaxDimension, std::nullopt, "output features"},
        {"k", 1, kMaxDimension, std::nullopt, "input features"},
    }};
    return fields;
  }

  std::span<const AttributeField> attributes() const override {
    static constexpr std::array<AttributeField, 1> attributes{
        {{"dtype", "bfloat16", "number format: bfloat16, fp8, fp8_block, nvfp4, ...", canonical_dtype}}};
    return attributes;
  }

  Work work(const Attributes& attributes, const Shape& shape) const override {
    const DType& dtype = *find_dtype(attributes.at("dtype"));
    const auto m = static_cast<double>(shape[0]);
    const auto n = static_cast<double>(shape[1]);
    const auto k = static_cast<double>(shape[2]);
    Work work;
    work.flops = Flops(2.0 * m * n * k);
    work.rate = dtype.rate;
    work.bytes_read = Bytes(m * k * dtype.activation_bytes + n * k * dtype.weight_bytes);
    work.bytes_written = Bytes(2.0 * m * n);
    return work;
  }

  std::span<const std::string_view> table_names() const override {
    static constexpr std::array<std::string_view, 1> names{"gemm"};
    return names;
  }

  Result<Call> from_table(const Cells& cells) const override {
    TableRow row(*this, cells);
    row.attribute("dtype", "gemm_dtype");
    row.field("m", "m");
    row.field("n", "n");
    row.field("k", "k");
    return std::move(row).call();
  }
};

}  // namespace

const Operator& gemm_operator() {
  static const Gemm gemm;
  return gemm;
}

}  // namespace roofcal
