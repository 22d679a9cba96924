#include "predictor/step/operator_price.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/step/trust.h"

namespace roofcal {
namespace {

constexpr std::size_t kMostKnown = std::size_t{1} << 16;  // shapes remembered

// Operands of this many L2 sizes came from HBM at each call of a timing loop, too.
constexpr double kNeverKept = 2.0;

constexpr double kBelow = 0.5;
constexpr double kAbove = 2.0;
constexpr double kAboveOfLinks = 4.0;

Result<void> legal(const Operator& op, const Attributes& attributes, const Shape& shape, const std::string& name) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Field& field = op.fields()[i];
    if (shape[i] < field.min || shape[i] > field.max) {
      return Error{ErrorCode::usage, fmt::format("{} ({}): {} {} is outside {} .. {}", name, op.name(), field.name,
                                                 print_field(field, shape[i]), print_field(field, field.min),
                                                 print_field(field, field.max))};
    }
  }
  if (auto checked = op.check(attributes, shape); !checked) {
    return Error{checked.error().code, fmt::format("{} ({}): {}", name, op.name(), checked.error().message)};
  }
  return {};
}

bool reads_cache(const std::string& op) { return op == "generation_attention" || op == "generation_mla"; }

}  // namespace

Price price_by_bound(const GpuSpec& gpu, const MemoryBandwidth& bandwidth, const Work& work) {
  const Roofline hard = roofline(gpu, work, CacheMode::hot);
  const Seconds memory = work.bytes() / bandwidth.value;
  Price price;
  price.roofline = hard.time;
  price.bound = hard.limit;
  Seconds busy = std::max(hard.compute, memory);
  if (hard.link > busy) {
    busy = hard.link;
  } else if (memory > hard.compute) {
    price.bound = Limit::memory;
  }
  if (bandwidth.launch_floor > busy) price.bound = Limit::latency;
  price.time = bandwidth.launch_floor + busy;
  price.lo = std::max(kBelow * price.time, hard.time);
  price.hi = (work.link_bytes.value() > 0.0 ? kAboveOfLinks : kAbove) * price.time;
  return price;
}

Bytes cold_bytes(const LoweredOperator& lowered, const Work& work) {
  if (lowered.op == "gemm") return lowered.weight_bytes;
  if (lowered.op == "moe" || reads_cache(lowered.op)) return work.bytes_read;
  return Bytes{};
}

OperatorPricer::OperatorPricer(const LoweredOperator& lowered, const GpuSpec& gpu, const MemoryBandwidth& bandwidth,
                               Answering first, Answering second, bool asked)
    : lowered_(&lowered),
      table_(lowered.table()),
      gpu_(&gpu),
      bandwidth_(&bandwidth),
      first_(std::move(first)),
      second_(std::move(second)),
      asked_(asked) {}

std::size_t OperatorPricer::ShapeHash::operator()(const Shape& shape) const {
  std::uint64_t hash = 1469598103934665603U;  // FNV-1a over the values
  for (const std::int64_t value : shape.values()) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 1099511628211U;
  }
  return static_cast<std::size_t>(hash ^ (hash >> 29U));
}

Result<Price> OperatorPricer::price_shape(const Shape& shape) const {
  if (auto checked = legal(*table_, lowered_->attributes, shape, lowered_->name); !checked) return checked.error();
  const Work work = table_->work(lowered_->attributes, shape);
  const Bytes cold = cold_bytes(*lowered_, work);
  const Seconds hard = cold / gpu_->memory_bandwidth;
  if (first_.resolution == nullptr) {
    Price price = price_by_bound(*gpu_, *bandwidth_, work);
    price.roofline = std::max(price.roofline, hard);
    price.lo = std::max(price.lo, hard);
    return price;
  }
  Answer answer = first_.resolution->predict(shape);
  const bool stands_in =
      second_.resolution != nullptr && !distrust(*lowered_, *first_.resolution, answer.kernel).empty();
  const Answering& answering = stands_in ? second_ : first_;
  if (stands_in) answer = second_.resolution->predict(shape);
  Price price;
  price.time = answer.time;
  price.lo = answer.lo;
  price.hi = answer.hi;
  price.roofline = answer.roofline;
  price.bound = answer.bound;
  price.provenance = answer.provenance;
  price.by = answering.resolution.get();
  price.kernel = answer.kernel;
  price.error_class = answering.first_class + answer.kernel;
  if (stands_in && asked_) price.provenance = std::max(price.provenance, Provenance::transferred);
  if (!lowered_->stand_in.empty()) price.provenance = std::max(price.provenance, Provenance::transferred);
  const Seconds fetched = cold / bandwidth_->value;
  if (fetched > price.time) {
    price.time = fetched;
    price.bound = Limit::memory;
  }
  // What may have waited in L2 when it was timed: at worst nothing of the kernel's start is hidden behind its way.
  if (cold.value() > 0.0 && cold < kNeverKept * gpu_->l2) {
    price.hi = std::max(price.hi, bandwidth_->launch_floor + cold / bandwidth_->lo);
  }
  // A class whose measurements beat the bound did so on operands that were where a step does not find them.
  price.roofline = std::max(price.roofline, hard);
  price.time = std::max(price.time, price.roofline);
  price.lo = std::clamp(price.lo, price.roofline, price.time);
  price.hi = std::max(price.hi, price.time);
  return price;
}

Result<std::optional<Price>> OperatorPricer::price(const StepTokens& tokens) {
  if (table_ == nullptr) {
    const auto work = work_of(*lowered_, tokens);
    if (!work) return std::optional<Price>();
    return std::optional<Price>(price_by_bound(*gpu_, *bandwidth_, *work));
  }
  const auto shape = shape_of(*lowered_, tokens);
  if (!shape) return std::optional<Price>();
  auto known = known_.find(*shape);
  if (known == known_.end()) {
    const auto priced = price_shape(*shape);
    if (!priced) return priced.error();
    if (known_.size() >= kMostKnown) known_.clear();
    known = known_.emplace(*shape, *priced).first;
  }
  std::optional<Price> price = known->second;
  // More queries a sequence than a decode kernel was timed with.
  if (tokens.decode.drafted > 0 && !lowered_->each_draft && reads_cache(lowered_->op)) {
    price->provenance = std::max(price->provenance, Provenance::transferred);
  }
  return price;
}

std::vector<std::string> OperatorPricer::warnings(const StepTokens& tokens) const {
  std::vector<std::string> out;
  const auto shape = shape_of(*lowered_, tokens);
  if (first_.resolution == nullptr || !shape) return out;
  if (!lowered_->stand_in.empty()) out.push_back(lowered_->stand_in);
  if (tokens.decode.drafted > 0 && !lowered_->each_draft && reads_cache(lowered_->op)) {
    out.emplace_back("tokens that check a draft are priced as more query heads on the same keys");
  }
  Answer answer = first_.resolution->predict(*shape);
  const Resolution* by = first_.resolution.get();
  if (second_.resolution != nullptr) {
    if (const std::string reason = distrust(*lowered_, *by, answer.kernel); !reason.empty()) {
      out.push_back(fmt::format("{}: {} answers", reason, second_.resolution->framework()));
      by = second_.resolution.get();
      answer = by->predict(*shape);
    }
  }
  const auto general = by->warnings();
  out.insert(out.end(), general.begin(), general.end());
  const auto special = by->warnings(*shape, answer);
  out.insert(out.end(), special.begin(), special.end());
  return out;
}

}  // namespace roofcal
