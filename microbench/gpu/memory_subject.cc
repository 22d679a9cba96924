#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "microbench/gpu/stream_subject.h"
#include "microbench/gpu/subjects.h"
#include "microbench/memory_kernels.h"

namespace roofcal::microbench {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::int64_t kCheckedRows = 4;
constexpr std::size_t kCheckedElements = 64;
constexpr std::int64_t kMostRead = std::int64_t{16} << 20;  // bytes whose words the host adds up in a check
constexpr float kEpsilon = 1e-5F;
constexpr float kTriadFactor = 3.0F;
constexpr std::uint32_t kPattern = 0x3F803F80;  // two bfloat16 ones
constexpr std::int64_t kSlotStep = 7919;        // a prime

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

enum class Content { bfloat16, float32, ids, slots, result };

struct Operand {
  Content content = Content::result;
  std::int64_t count = 0;  ///< elements; of a result: bytes

  [[nodiscard]] std::size_t bytes() const {
    switch (content) {
      case Content::bfloat16:
        return static_cast<std::size_t>(2 * count);
      case Content::float32:
      case Content::ids:
        return static_cast<std::size_t>(4 * count);
      case Content::slots:
        return static_cast<std::size_t>(8 * count);
      case Content::result:
        break;
    }
    return static_cast<std::size_t>(count);
  }
};

// The operands of each kernel, in the order that enqueue() uses them.
std::vector<Operand> operands_of(const std::string& kernel, const Sizes& s) {
  const auto at = [&](const char* name) { return s.at(name); };
  if (kernel == "copy") return {{Content::float32, at("bytes") / 4}, {Content::result, at("bytes")}};
  if (kernel == "read") return {{Content::float32, at("bytes") / 4}, {Content::result, 4}};
  if (kernel == "write") return {{Content::result, at("bytes")}};
  if (kernel == "triad") {
    return {{Content::float32, at("bytes") / 4}, {Content::float32, at("bytes") / 4}, {Content::result, at("bytes")}};
  }
  if (kernel == "rms_norm") {
    const std::int64_t elements = at("rows") * at("hidden");
    return {{Content::bfloat16, elements}, {Content::bfloat16, at("hidden")}, {Content::result, 2 * elements}};
  }
  if (kernel == "silu_and_mul") {
    const std::int64_t elements = at("rows") * at("inter");
    return {{Content::bfloat16, 2 * elements}, {Content::result, 2 * elements}};
  }
  if (kernel == "rotary") {
    return {{Content::bfloat16, at("tokens") * at("heads") * at("head_dim")},
            {Content::float32, at("tokens") * at("head_dim")}};
  }
  if (kernel == "residual_add") {
    const std::int64_t elements = at("rows") * at("hidden");
    return {{Content::bfloat16, elements}, {Content::bfloat16, elements}};
  }
  if (kernel == "embedding_gather") {
    return {{Content::bfloat16, at("vocab") * at("hidden")},
            {Content::ids, at("tokens")},
            {Content::result, 2 * at("tokens") * at("hidden")}};
  }
  const std::int64_t elements = at("tokens") * at("kv_heads") * at("head_dim");  // kv_append
  return {{Content::bfloat16, elements},
          {Content::bfloat16, elements},
          {Content::slots, at("tokens")},
          {Content::result, 2 * elements},
          {Content::result, 2 * elements}};
}

class MemorySubject final : public StreamSubject {
 public:
  MemorySubject(GpuContext& gpu, const MeasurementCase& one, const PrepareOptions& options)
      : StreamSubject(gpu, options), kernel_(one.kernel), sizes_(one.sizes), operands_(operands_of(kernel_, sizes_)) {}

  Result<void> make_ready() {
    if (const auto done = set_up(); !done) return done;
    for (const Operand& operand : operands_) {
      offsets_.push_back(set_bytes_);
      set_bytes_ += aligned(operand.bytes());
    }
    auto memory = allocate_device(gpu_.api, options_.rotation.sets * set_bytes_);
    if (!memory) return memory.error();
    memory_ = *std::move(memory);
    for (std::size_t set = 0; set < options_.rotation.sets; ++set) {
      if (const auto done = fill(set); !done) return done;
    }
    return launched("filling operands");
  }

  Result<Check> check() override {
    const bool long_read = kernel_ == "read" && size("bytes") > kMostRead;
    if (long_read) {
      // All of it is timed; of the sum, the host computes the first part.
      gpu_.kernels.read(pointer(0, 0), kMostRead, as<std::uint32_t>(0, 1), gpu_.stream.get());
      if (const auto done = launched(kernel_.c_str()); !done) return done.error();
    } else if (const auto done = enqueue(0); !done) {
      return done.error();
    }
    Check check;
    const auto done = compare(check);
    if (!done) return done.error();
    return check;
  }

 protected:
  Result<void> enqueue(std::size_t set) override {
    const CudaStream stream = gpu_.stream.get();
    Kernels& k = gpu_.kernels;
    if (kernel_ == "copy") {
      k.copy(pointer(set, 1), pointer(set, 0), size("bytes"), stream);
    } else if (kernel_ == "read") {
      k.read(pointer(set, 0), size("bytes"), as<std::uint32_t>(set, 1), stream);
    } else if (kernel_ == "write") {
      k.write(pointer(set, 0), size("bytes"), kPattern, stream);
    } else if (kernel_ == "triad") {
      k.triad(as<float>(set, 2), as<float>(set, 0), as<float>(set, 1), kTriadFactor, size("bytes"), stream);
    } else if (kernel_ == "rms_norm") {
      k.rms_norm(pointer(set, 0), pointer(set, 1), pointer(set, 2), size("rows"), size("hidden"), kEpsilon, stream);
    } else if (kernel_ == "silu_and_mul") {
      k.silu_and_mul(pointer(set, 0), pointer(set, 1), size("rows"), size("inter"), stream);
    } else if (kernel_ == "rotary") {
      k.rotary(pointer(set, 0), as<float>(set, 1), size("tokens"), size("heads"), size("head_dim"), stream);
    } else if (kernel_ == "residual_add") {
      k.residual_add(pointer(set, 0), pointer(set, 1), size("rows") * size("hidden"), stream);
    } else if (kernel_ == "embedding_gather") {
      k.embedding_gather(pointer(set, 0), as<std::int32_t>(set, 1), pointer(set, 2), size("tokens"), size("hidden"),
                         stream);
    } else {
      k.kv_append(pointer(set, 0), pointer(set, 1), as<std::int64_t>(set, 2), pointer(set, 3), pointer(set, 4),
                  size("tokens"), size("kv_heads") * size("head_dim"), stream);
    }
    return launched(kernel_.c_str());
  }

  Result<void> zero_inputs() override {
    for (std::size_t set = 0; set < options_.rotation.sets; ++set) {
      for (std::size_t i = 0; i < operands_.size(); ++i) {
        if (operands_[i].content != Content::bfloat16 && operands_[i].content != Content::float32) continue;
        const auto done = checked(gpu_.api, gpu_.api.fill(pointer(set, i), 0, operands_[i].bytes(), gpu_.stream.get()),
                                  "cudaMemsetAsync");
        if (!done) return done;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] std::int64_t size(const char* name) const { return sizes_.at(name); }
  [[nodiscard]] void* pointer(std::size_t set, std::size_t operand) const {
    return static_cast<unsigned char*>(memory_.get()) + set * set_bytes_ + offsets_[operand];
  }
  template <class T>
  [[nodiscard]] T* as(std::size_t set, std::size_t operand) const {
    return static_cast<T*>(pointer(set, operand));
  }
  [[nodiscard]] std::uint64_t seed(std::size_t set, std::size_t operand) const {
    return hash_of(options_.seed, 16 * set + operand);
  }
  [[nodiscard]] RandomOperand random(std::size_t operand) const {
    return {operands_[operand].content == Content::float32 ? NumberFormat::float32 : NumberFormat::bfloat16,
            seed(0, operand)};
  }

  Result<void> fill(std::size_t set) {
    const CudaStream stream = gpu_.stream.get();
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Operand& operand = operands_[i];
      switch (operand.content) {
        case Content::bfloat16:
          gpu_.kernels.fill_random(NumberFormat::bfloat16, pointer(set, i), operand.count, seed(set, i), stream);
          break;
        case Content::float32:
          gpu_.kernels.fill_random(NumberFormat::float32, pointer(set, i), operand.count, seed(set, i), stream);
          break;
        case Content::ids:
          gpu_.kernels.fill_ids(as<std::int32_t>(set, i), operand.count, size("vocab"), seed(set, i), stream);
          break;
        case Content::slots:
          gpu_.kernels.fill_slots(as<std::int64_t>(set, i), operand.count, slot_step(), stream);
          break;
        case Content::result: {
          // NaN, except where a kernel adds to it.
          const int byte = kernel_ == "read" ? 0 : 0xFF;
          const auto done =
              checked(gpu_.api, gpu_.api.fill(pointer(set, i), byte, operand.bytes(), stream), "cudaMemsetAsync");
          if (!done) return done;
          break;
        }
      }
    }
    return {};
  }

  [[nodiscard]] std::int64_t slot_step() const { return std::gcd(kSlotStep, size("tokens")) == 1 ? kSlotStep : 1; }

  [[nodiscard]] std::vector<double> values(std::size_t operand, std::int64_t first, std::int64_t count) const {
    std::vector<double> out;
    const RandomOperand data = random(operand);
    for (std::int64_t i = 0; i < count; ++i) out.push_back(data.at(static_cast<std::uint64_t>(first + i)));
    return out;
  }

  // A row of bfloat16 results against its references.
  Result<void> compare_row(Check& check, std::size_t operand, std::int64_t first, const std::vector<Expected>& expected,
                           std::string_view where) {
    const auto got = bfloat16_row(gpu_, pointer(0, operand), static_cast<std::uint64_t>(first), expected.size());
    if (!got) return got.error();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      check.compare((*got)[i], expected[i], fmt::format("{}, element {}", where, i));
    }
    return {};
  }

  [[nodiscard]] static std::vector<Expected> exact(const std::vector<double>& values) {
    std::vector<Expected> out;
    for (const double value : values) out.push_back({value, 0.0});
    return out;
  }

  // First, last and some rows between.
  [[nodiscard]] std::vector<std::int64_t> rows_to_check(std::int64_t rows) const {
    std::vector<std::int64_t> out;
    for (const Position& at : checked_positions(rows, 1, kCheckedRows, options_.seed)) out.push_back(at.row);
    return out;
  }

  Result<void> compare(Check& check) {
    if (sizes_.contains("bytes")) return compare_bytes(check);
    if (kernel_ == "rotary") return compare_rotary(check);
    if (kernel_ == "kv_append") return compare_append(check);
    const bool gather = kernel_ == "embedding_gather";
    const std::int64_t rows = gather ? size("tokens") : size("rows");
    const std::int64_t width = kernel_ == "silu_and_mul" ? size("inter") : size("hidden");
    for (const std::int64_t row : rows_to_check(rows)) {
      std::vector<Expected> expected;
      std::size_t result = operands_.size() - 1;
      if (kernel_ == "rms_norm") {
        expected =
            rms_norm_reference(values(0, row * width, width), values(1, 0, width), static_cast<double>(kEpsilon));
      } else if (kernel_ == "silu_and_mul") {
        expected = silu_and_mul_reference(values(0, 2 * row * width, width), values(0, (2 * row + 1) * width, width));
      } else if (gather) {
        const auto id =
            hash_of(seed(0, 1), static_cast<std::uint64_t>(row)) % static_cast<std::uint64_t>(size("vocab"));
        expected = exact(values(0, static_cast<std::int64_t>(id) * width, width));
      } else {
        expected = add_reference(values(0, row * width, width), values(1, row * width, width));
        result = 0;
      }
      const auto done = compare_row(check, result, row * width, expected, fmt::format("row {}", row));
      if (!done) return done;
    }
    return {};
  }

  Result<void> compare_rotary(Check& check) {
    const std::int64_t dim = size("head_dim");
    for (const std::int64_t row : rows_to_check(size("tokens") * size("heads"))) {
      const std::int64_t token = row / size("heads");
      const auto expected = rotary_reference(values(0, row * dim, dim), values(1, token * dim, dim / 2),
                                             values(1, token * dim + dim / 2, dim / 2));
      if (const auto done = compare_row(check, 0, row * dim, expected, fmt::format("head {}", row)); !done) return done;
    }
    return {};
  }

  Result<void> compare_append(Check& check) {
    const std::int64_t width = size("kv_heads") * size("head_dim");
    for (const std::int64_t row : rows_to_check(size("tokens"))) {
      const std::int64_t slot = row * slot_step() % size("tokens");
      for (std::size_t i = 0; i < 2; ++i) {
        const auto expected = exact(values(i, row * width, width));
        const auto done = compare_row(check, 3 + i, slot * width, expected, fmt::format("token {}", row));
        if (!done) return done;
      }
    }
    return {};
  }

  Result<void> compare_bytes(Check& check) {
    const std::int64_t words = size("bytes") / 4;
    if (kernel_ == "read") {
      std::uint32_t expected = 0;
      const auto counted = static_cast<std::uint64_t>(std::min(words, kMostRead / 4));
      for (std::uint64_t i = 0; i < counted; ++i) expected ^= random_bits(NumberFormat::float32, seed(0, 0), i);
      const auto got = element(gpu_, pointer(0, 1), NumberFormat::int32, 0);
      if (!got) return got.error();
      check.compare(*got, {decode(NumberFormat::int32, expected), 0.0}, "exclusive or of all words");
      return {};
    }
    const std::size_t result = operands_.size() - 1;
    for (const Position& at : checked_positions(words, 1, kCheckedElements, options_.seed)) {
      const auto i = static_cast<std::uint64_t>(at.row);
      const auto got = element(gpu_, pointer(0, result), NumberFormat::float32, i);
      if (!got) return got.error();
      Expected expected{decode(NumberFormat::float32, kPattern), 0.0};
      if (kernel_ == "copy") expected.value = random(0).at(i);
      if (kernel_ == "triad") {
        const std::array<double, 1> b{random(0).at(i)};
        const std::array<double, 1> c{random(1).at(i)};
        expected = triad_reference(b, c, static_cast<double>(kTriadFactor)).front();
      }
      check.compare(*got, expected, fmt::format("word {}", at.row));
    }
    return {};
  }

  std::string kernel_;
  Sizes sizes_;
  std::vector<Operand> operands_;
  std::vector<std::size_t> offsets_;
  std::size_t set_bytes_ = 0;
  DeviceMemory memory_;
};

}  // namespace

Result<std::unique_ptr<Subject>> prepare_memory(GpuContext& gpu, const MeasurementCase& one,
                                                const PrepareOptions& options) {
  if (const auto bytes = one.sizes.find("bytes"); bytes != one.sizes.end() && bytes->second % 4 != 0) {
    return Error{ErrorCode::not_calibrated,
                 fmt::format("{} of {} bytes: not a multiple of 4", one.kernel, bytes->second)};
  }
  if (const auto dim = one.sizes.find("head_dim"); one.kernel == "rotary" && dim->second % 2 != 0) {
    return Error{ErrorCode::not_calibrated, fmt::format("rotary of an odd head_dim {}", dim->second)};
  }
  auto subject = std::make_unique<MemorySubject>(gpu, one, options);
  if (const auto ready = subject->make_ready(); !ready) return ready.error();
  return std::unique_ptr<Subject>(std::move(subject));
}

}  // namespace roofcal::microbench
