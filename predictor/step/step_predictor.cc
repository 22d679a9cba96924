#include "predictor/step/step_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "predictor/resolve.h"
#include "predictor/step/trust.h"

namespace roofcal {
namespace {

// By default each operator is answered by the first of these that was calibrated.
const std::array<std::string, 3> kFrameworks{"trtllm", "vllm", "sglang"};

// A step rests on the weakest provenance of more than this share of its time.
constexpr double kSmallShare = 0.05;

Result<void> runs_on(const GpuSpec& gpu, const LoweredOperator& lowered) {
  if (lowered.op != "gemm" && lowered.op != "moe") return {};
  const std::string& format = lowered.attributes.find("dtype")->second;
  const DType* dtype = find_dtype(format);
  if (dtype == nullptr || gpu.has(dtype->rate)) return {};
  return Error{
      ErrorCode::not_calibrated,
      fmt::format("{} has no {} arithmetic in its datasheet: {} with {} weights cannot run there; --dtype names "
                  "another format",
                  gpu.name, to_string(dtype->rate), lowered.name, format)};
}

// Kernels that belong to no framework: whoever was calibrated answers.
bool is_nobodys(const LoweredOperator& lowered) { return lowered.op == "memory"; }

// What decides who answers: whether attention is grouped does, since some tables are not to be trusted then.
std::tuple<std::string, Attributes, bool> class_of(const LoweredOperator& lowered) {
  const auto* attention = std::get_if<AttentionSizes>(&lowered.sizes);
  return {lowered.op, lowered.attributes, attention != nullptr && attention->heads > attention->kv_heads};
}

bool calls_nccl(const LoweredOperator& lowered) {
  return lowered.op == "collective" && lowered.attributes.find("collective")->second != "all_reduce";
}

}  // namespace

StepPredictor::StepPredictor(const Predictor& predictor, const GpuSpec& gpu, StepQuestion question)
    : predictor_(&predictor), gpu_(&gpu), question_(std::move(question)) {}

Result<StepPredictor> StepPredictor::make(const Predictor& predictor, const GpuSpec& gpu,
                                          const models::ModelDescription& model, const Parallelism& spread,
                                          const StepQuestion& question) {
  if (auto possible = check(model, spread); !possible) return possible.error();
  StepPredictor out(predictor, gpu, question);
  LowerOptions options = question.lower;
  options.fusions = fusions_of(question.framework.empty() ? preferred_framework(kFrameworks) : question.framework);
  out.operators_ = std::make_unique<const std::vector<LoweredOperator>>(lower(model, spread, options));
  for (const LoweredOperator& lowered : *out.operators_) {
    if (auto runs = runs_on(gpu, lowered); !runs) return runs.error();
  }
  auto bandwidth = memory_bandwidth(predictor, gpu.name);
  if (!bandwidth) return bandwidth.error();
  out.bandwidth_ = std::make_unique<const MemoryBandwidth>(*std::move(bandwidth));
  out.pricers_.resize(out.operators_->size());
  return out;
}

Result<std::shared_ptr<const Resolution>> StepPredictor::resolve(const LoweredOperator& lowered,
                                                                 const std::string& framework) const {
  Question question;
  question.gpu = gpu_->name;
  question.op = lowered.op;
  question.attributes = lowered.attributes;
  if (!is_nobodys(lowered)) {
    question.framework = framework;
    if (framework == question_.framework) question.version = question_.version;
  }
  auto resolved = predictor_->resolve(question);
  if (!resolved) return resolved;
  // Frameworks call NCCL for what they have no kernel of their own for: that is no stand-in. All have one to reduce.
  if (calls_nccl(lowered) && !question.framework.empty() && (*resolved)->framework() != question.framework) {
    question.framework = "nccl";
    question.version.clear();
    auto by_nccl = predictor_->resolve(question);
    if (by_nccl && (*by_nccl)->framework() == "nccl") return by_nccl;
  }
  return resolved;
}

Result<std::shared_ptr<const Resolution>> StepPredictor::trusted(const LoweredOperator& lowered,
                                                                 const Resolution& instead_of) const {
  if (!distrusted(lowered, instead_of)) return std::shared_ptr<const Resolution>();
  const auto there = instead_of.frameworks();
  std::vector<std::string> others(there.begin(), there.end());
  std::erase(others, instead_of.framework());
  while (!others.empty()) {
    const std::string best = preferred_framework(others);
    auto resolved = resolve(lowered, best);
    if (!resolved || !distrusted(lowered, **resolved)) return resolved;
    std::erase(others, best);
  }
  return std::shared_ptr<const Resolution>();
}

Answering StepPredictor::answering(std::shared_ptr<const Resolution> resolution) {
  Answering out;
  if (resolution == nullptr) return out;
  out.first_class = classes_;
  classes_ += resolution->kernels().size();
  out.resolution = std::move(resolution);
  return out;
}

Result<void> StepPredictor::prepare(std::size_t index) {
  const LoweredOperator& lowered = (*operators_)[index];
  Known none;
  const Known* known = &none;
  if (lowered.table() != nullptr) {
    const auto key = class_of(lowered);
    auto entry = known_.find(key);
    if (entry == known_.end()) {
      auto first = resolve(lowered, question_.framework);
      if (!first && first.error().code != ErrorCode::not_calibrated) return first.error();
      Known found;
      if (first) {
        auto second = trusted(lowered, **first);
        if (!second) return second.error();
        found.first = answering(*std::move(first));
        found.second = answering(*std::move(second));
      } else {
        found.reason = first.error().message;
      }
      entry = known_.emplace(key, std::move(found)).first;
    }
    known = &entry->second;
  }
  pricers_[index] = std::make_unique<OperatorPricer>(lowered, *gpu_, *bandwidth_, known->first, known->second,
                                                     !question_.framework.empty());
  return {};
}

void StepPredictor::expect(const StepTokens& tokens) const {
  std::vector<ClassKey> groups;
  for (std::size_t i = 0; i < operators_->size(); ++i) {
    const LoweredOperator& lowered = (*operators_)[i];
    if (pricers_[i] != nullptr || lowered.table() == nullptr || !shape_of(lowered, tokens)) continue;
    if (known_.contains(class_of(lowered))) continue;
    ClassKey group;
    group.gpu = gpu_->name;
    group.op = lowered.op;
    group.attributes = lowered.attributes;
    groups.push_back(std::move(group));
  }
  if (!groups.empty()) predictor_->expect(groups);
}

Result<StepTime> StepPredictor::evaluate(const StepTokens& tokens) { return evaluate(tokens, lines_); }

Result<StepTime> StepPredictor::evaluate(const StepTokens& tokens, std::vector<OperatorTime>& lines) {
  lines.clear();
  expect(tokens);
  for (std::size_t i = 0; i < operators_->size(); ++i) {
    const LoweredOperator& lowered = (*operators_)[i];
    if (pricers_[i] == nullptr) {
      if (!work_of(lowered, tokens)) continue;  // its calibration is not needed yet
      if (auto ready = prepare(i); !ready) return ready.error();
    }
    const auto priced = pricers_[i]->price(tokens);
    if (!priced) return priced.error();
    if (!*priced) continue;
    const double calls =
        lowered.each_draft ? lowered.count * static_cast<double>(tokens.decode.drafted) : lowered.count;
    lines.push_back({&lowered, i, calls, **priced});
  }

  StepTime out;
  interval_.reset(classes_);
  std::array<Seconds, kProvenanceCount> by_provenance{};
  std::array<Seconds, 5> by_bound{};
  for (const OperatorTime& line : lines) {
    const Price& each = line.each;
    const Seconds time = line.calls * each.time;
    out.time += time;
    out.roofline += line.calls * each.roofline;
    by_provenance[static_cast<std::size_t>(each.provenance)] += time;
    by_bound[static_cast<std::size_t>(each.bound)] += time;
    interval_.add(each.error_class, line.calls * (each.time - each.lo), line.calls * (each.hi - each.time));
  }
  out.lo = std::max(out.time - interval_.below(), out.roofline);
  out.hi = out.time + interval_.above();
  out.bound = static_cast<Limit>(std::ranges::max_element(by_bound) - by_bound.begin());
  Seconds weak{};
  for (int p = kProvenanceCount - 1; p >= 0; --p) {
    weak += by_provenance[static_cast<std::size_t>(p)];
    out.provenance = static_cast<Provenance>(p);
    if (weak > kSmallShare * out.time) break;
  }
  return out;
}

std::vector<std::string> StepPredictor::warnings(const StepTokens& tokens, std::span<const OperatorTime> lines) const {
  // By text, in the order of first appearance: the operators that it is about.
  std::vector<std::pair<std::string, std::vector<std::string>>> about;
  const auto say = [&about](const std::string& text, const std::string& name) {
    auto known = std::ranges::find(about, text, &std::pair<std::string, std::vector<std::string>>::first);
    if (known == about.end()) known = about.insert(about.end(), {text, {}});
    if (std::ranges::find(known->second, name) == known->second.end()) known->second.push_back(name);
  };
  constexpr std::string_view kNoTable = "priced by its bound, since no table covers it";
  for (const OperatorTime& line : lines) {
    const std::string& name = line.lowered->name;
    if (line.each.by != nullptr) {
      for (const std::string& text : pricers_[line.index]->warnings(tokens)) say(text, name);
      continue;
    }
    const auto known = known_.find(class_of(*line.lowered));
    say(known == known_.end() ? std::string(kNoTable) : "priced by its bound, since " + known->second.reason, name);
  }
  for (const std::string& text : bandwidth_->warnings) say(text, "memory bandwidth");
  std::vector<std::string> out;
  for (const auto& [text, names] : about) out.push_back(fmt::format("{}: {}", fmt::join(names, ", "), text));
  return out;
}

}  // namespace roofcal
