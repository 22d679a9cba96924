#include "core/memory.h"

#include <array>

#include "core/table_row.h"

namespace roofcal {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 46;

enum : std::size_t { bytes_read, bytes_written };

class Memory final : public Operator {
 public:
  std::string_view name() const override { return "memory"; }
  std::string_view help() const override { return "a kernel that only moves data: norm, activation, rotary, copy"; }

  std::span<const Field> fields() const override {
    static constexpr std::array<Field, 2> fields{
        {{"bytes-read", 0, kMaxBytes, std::nullopt, "bytes that the kernel reads"},
         {"bytes-written", 0, kMaxBytes, std::nullopt, "bytes that the kernel writes"}}};
    return fields;
  }

  std::span<const AttributeField> attributes() const override { return {}; }

  Work work(const Attributes& /*attributes*/, const Shape& shape) const override {
    Work work;
    work.bytes_read = Bytes(static_cast<double>(shape[bytes_read]));
    work.bytes_written = Bytes(static_cast<double>(shape[bytes_written]));
    return work;
  }

  Result<void> check(const Attributes& /*attributes*/, const Shape& shape) const override {
    if (shape[bytes_read] == 0 && shape[bytes_written] == 0) {
      return Error{ErrorCode::usage, "bytes-read and bytes-written are both 0: there is nothing to move"};
    }
    return {};
  }

  std::span<const std::string_view> table_names() const override {
    static constexpr std::array<std::string_view, 1> names{"memory"};
    return names;
  }

  Result<Call> from_table(const Cells& cells) const override {
    TableRow row(*this, cells);
    row.field("bytes-read", "bytes_read");
    row.field("bytes-written", "bytes_written");
    return std::move(row).call();
  }
};

}  // namespace

const Operator& memory_operator() {
  static const Memory memory;
  return memory;
}

}  // namespace roofcal
