#include "microbench/memory_kernels.h"

#include <fmt/format.h>

#include <algorithm>

namespace roofcal::microbench {
namespace {

constexpr double kElement = 2.0;  // bytes of a bfloat16
constexpr double kFloat = 4.0;
constexpr double kTokenId = 4.0;
constexpr double kSlot = 8.0;

double at(const Sizes& sizes, const char* name) { return static_cast<double>(sizes.at(name)); }

Bytes total(const Traffic& traffic) { return traffic.read + traffic.written; }

Traffic copy(const Sizes& s) { return {Bytes(at(s, "bytes")), Bytes(at(s, "bytes"))}; }
Traffic read(const Sizes& s) { return {Bytes(at(s, "bytes")), Bytes(0.0)}; }
Traffic write(const Sizes& s) { return {Bytes(0.0), Bytes(at(s, "bytes"))}; }
Traffic triad(const Sizes& s) { return {Bytes(2.0 * at(s, "bytes")), Bytes(at(s, "bytes"))}; }

Traffic rms_norm(const Sizes& s) {
  const double elements = at(s, "rows") * at(s, "hidden");
  return {Bytes(kElement * (elements + at(s, "hidden"))), Bytes(kElement * elements)};
}

Traffic silu_and_mul(const Sizes& s) {
  const double elements = at(s, "rows") * at(s, "inter");
  return {Bytes(2.0 * kElement * elements), Bytes(kElement * elements)};
}

Traffic rotary(const Sizes& s) {
  const double elements = at(s, "tokens") * at(s, "heads") * at(s, "head_dim");
  // A cosine and a sine for each pair of a token.
  return {Bytes(kElement * elements + kFloat * at(s, "tokens") * at(s, "head_dim")), Bytes(kElement * elements)};
}

Traffic residual_add(const Sizes& s) {
  const double elements = at(s, "rows") * at(s, "hidden");
  return {Bytes(2.0 * kElement * elements), Bytes(kElement * elements)};
}

Traffic embedding_gather(const Sizes& s) {
  const double elements = at(s, "tokens") * at(s, "hidden");
  return {Bytes(kElement * elements + kTokenId * at(s, "tokens")), Bytes(kElement * elements)};
}

Traffic kv_append(const Sizes& s) {
  const double elements = 2.0 * at(s, "tokens") * at(s, "kv_heads") * at(s, "head_dim");
  return {Bytes(kElement * elements + kSlot * at(s, "tokens")), Bytes(kElement * elements)};
}

template <Traffic (*traffic)(const Sizes&)>
Bytes all_of(const Sizes& sizes) {
  return total(traffic(sizes));
}

// In place: what is written was read before.
Bytes rotary_footprint(const Sizes& s) { return rotary(s).read; }
Bytes residual_footprint(const Sizes& s) { return residual_add(s).read; }

Bytes gather_footprint(const Sizes& s) {
  const Traffic traffic = embedding_gather(s);
  return Bytes(kElement * at(s, "vocab") * at(s, "hidden") + kTokenId * at(s, "tokens")) + traffic.written;
}

constexpr std::array<MemoryKernel, 10> kKernels{{
    {"copy", {"bytes"}, copy, all_of<copy>, "b = a"},
    {"read", {"bytes"}, read, all_of<read>, "a sum over a"},
    {"write", {"bytes"}, write, all_of<write>, "a = constant"},
    {"triad", {"bytes"}, triad, all_of<triad>, "a = b + s c"},
    {"rms_norm", {"rows", "hidden"}, rms_norm, all_of<rms_norm>, "RMSNorm with weights"},
    {"silu_and_mul", {"rows", "inter"}, silu_and_mul, all_of<silu_and_mul>, "silu(gate) * up"},
    {"rotary", {"tokens", "heads", "head_dim"}, rotary, rotary_footprint, "rotary embedding in place"},
    {"residual_add", {"rows", "hidden"}, residual_add, residual_footprint, "a += b"},
    {"embedding_gather", {"tokens", "hidden", "vocab"}, embedding_gather, gather_footprint, "rows of a table by id"},
    {"kv_append", {"tokens", "kv_heads", "head_dim"}, kv_append, all_of<kv_append>, "keys and values into a cache"},
}};

}  // namespace

std::span<const MemoryKernel> memory_kernels() { return kKernels; }

const MemoryKernel* find_memory_kernel(std::string_view name) {
  const auto* found = std::ranges::find(kKernels, name, &MemoryKernel::name);
  return found == kKernels.end() ? nullptr : found;
}

Result<MeasurementCase> memory_case(std::string_view kernel, const Sizes& sizes, CacheMode cache) {
  const MemoryKernel* known = find_memory_kernel(kernel);
  if (known == nullptr) {
    std::vector<std::string_view> names;
    for (const MemoryKernel& one : kKernels) names.push_back(one.name);
    return Error{ErrorCode::usage,
                 fmt::format("'{}' is no memory kernel; there is {}", kernel, fmt::join(names, ", "))};
  }
  for (const std::string_view name : known->size_names) {
    if (!name.empty() && !sizes.contains(std::string(name))) {
      return Error{ErrorCode::usage, fmt::format("{} needs {}", kernel, name)};
    }
  }
  for (const auto& [name, value] : sizes) {
    if (std::ranges::find(known->size_names, name) == known->size_names.end()) {
      return Error{ErrorCode::usage, fmt::format("{} has no size '{}'", kernel, name)};
    }
    if (value < 1) return Error{ErrorCode::usage, fmt::format("{}: {} {} is less than 1", kernel, name, value)};
  }
  MeasurementCase out;
  out.kind = "operator";
  out.op = "memory";
  out.kernel = kernel;
  out.sizes = sizes;
  out.cache = cache;
  return out;
}

}  // namespace roofcal::microbench
