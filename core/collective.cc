#include "core/collective.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "core/table_row.h"

namespace roofcal {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 46;
constexpr int kMaxRanks = 1 << 20;

std::optional<std::string> canonical_collective(std::string_view text) {
  struct Spelling {
    std::string_view text;
    std::string_view name;
  };
  // Compared without case, '_' and '-': nccl-tests, NCCL and the tables of others spell them differently.
  static constexpr std::array<Spelling, 6> spellings{{{"allreduce", "all_reduce"},
                                                      {"allgather", "all_gather"},
                                                      {"reducescatter", "reduce_scatter"},
                                                      {"alltoall", "all_to_all"},
                                                      {"sendrecv", "send_recv"},
                                                      {"p2p", "send_recv"}}};
  std::string plain;
  for (const char c : text) {
    if (c != '_' && c != '-') {
      plain.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
  }
  const auto* found = std::ranges::find(spellings, plain, &Spelling::text);
  return found == spellings.end() ? std::nullopt : std::optional<std::string>(found->name);
}

std::optional<std::string> canonical_ranks(std::string_view text) {
  int ranks = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, ranks);
  if (failure != std::errc{} || stop != end || ranks < 2 || ranks > kMaxRanks) {
    return std::nullopt;
  }
  return std::to_string(ranks);
}

std::optional<std::string> canonical_topology(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) == 0 && c != '_' && c != '-') {
      return std::nullopt;
    }
    word.push_back(static_cast<char>(std::tolower(u)));
  }
  return word.empty() ? std::nullopt : std::optional<std::string>(std::move(word));
}

class Collective final : public Operator {
 public:
  std::string_view name() const override { return "collective"; }
  std::string_view help() const override { return "communication between the GPUs of a group"; }

  std::span<const Field> fields() const override {
    static constexpr std::array<Field, 1> fields{
        {{"bytes", 1, kMaxBytes, std::nullopt,
          "size of a rank's buffer; of the whole array for all_gather and reduce_scatter"}}};
    return fields;
  }

  std::span<const AttributeField> attributes() const override {
    static constexpr std::array<AttributeField, 3> attributes{
        {{"collective", "", "all_reduce, all_gather, reduce_scatter, all_to_all or send_recv", canonical_collective},
         {"ranks", "", "number of GPUs, 2 or more", canonical_ranks},
         {"topology", "node", "how the GPUs are connected, one word: node (one node), ...", canonical_topology}}};
    return attributes;
  }

  Work work(const Attributes& attributes, const Shape& shape) const override {
    const std::string& collective = attributes.find("collective")->second;
    const double ranks = ranks_of(attributes);
    const auto size = static_cast<double>(shape[0]);
    double link = bus_factor(collective, ranks);
    if (collective == "all_reduce") {
      link = std::min(link, 1.0 + 1.0 / ranks);
    }
    Work work;
    work.bytes_read = Bytes(collective == "all_gather" ? size / ranks : size);
    work.bytes_written = Bytes(collective == "reduce_scatter" ? size / ranks : size);
    work.link_bytes = Bytes(link * size);
    return work;
  }

  std::span<const std::string_view> table_names() const override {
    static constexpr std::array<std::string_view, 7> names{"all_reduce", "all_gather", "reduce_scatter", "alltoall",
                                                           "all_to_all", "send_recv",  "sendrecv"};
    return names;
  }

  Result<Call> from_table(const Cells& cells) const override {
    // NCCL's tables and those of the frameworks' own all-reduce name the type's column differently; both count
    // elements.
    const bool by_nccl = cells("nccl_dtype").has_value();
    const std::string_view column = by_nccl ? "nccl_dtype" : "allreduce_dtype";
    const auto type = cells(column);
    if (!type) {
      return Error{ErrorCode::missing_column, "nccl_dtype: no such column, nor allreduce_dtype"};
    }
    const DType* dtype = find_dtype(*type);
    if (dtype == nullptr) {
      return Error{ErrorCode::bad_data, std::string(column) + " '" + std::string(*type) + "' is not known"};
    }
    TableRow row(*this, cells);
    row.attribute("collective", "op_name");
    row.attribute("ranks", "num_gpus");
    const std::int64_t elements = row.number("message_size");
    // Beyond the domain either way: the unscaled count then names the trouble without overflowing.
    const double size = static_cast<double>(elements) * dtype->weight_bytes;
    row.set("bytes", elements > kMaxBytes ? elements : static_cast<std::int64_t>(size));
    auto call = std::move(row).call();
    if (call && by_nccl) {
      call->framework = "nccl";
    }
    return call;
  }
};

}  // namespace

double bus_factor(std::string_view collective, double ranks) {
  if (collective == "send_recv") {
    return 1.0;
  }
  const double others = (ranks - 1.0) / ranks;
  return collective == "all_reduce" ? 2.0 * others : others;
}

int ranks_of(const Attributes& attributes) {
  const std::string& text = attributes.find("ranks")->second;
  int ranks = 0;
  std::from_chars(text.data(), text.data() + text.size(), ranks);
  return ranks;
}

const Operator& collective_operator() {
  static const Collective collective;
  return collective;
}

}  // namespace roofcal
