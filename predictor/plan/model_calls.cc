#include "predictor/plan/model_calls.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <tuple>

#include "core/moe.h"
#include "predictor/step/memory_plan.h"
#include "predictor/step/runtime_formats.h"
#include "predictor/step/step_predictor.h"

namespace roofcal {
namespace {

constexpr std::array<std::int64_t, 5> kPrompts{128, 512, 2048, 8192, 16384};
constexpr std::array<std::int64_t, 5> kBatches{1, 4, 16, 64, 256};
constexpr std::array<std::int64_t, 4> kContexts{512, 2048, 8192, 32768};
constexpr std::int64_t kMostGpus = 8;
constexpr const char* kDistribution = "power_law_1.2";

std::vector<StepTokens> usual_steps() {
  std::vector<StepTokens> steps;
  for (const std::int64_t prompt : kPrompts) {
    StepTokens step;
    step.prefill = {1, prompt, 0};
    steps.push_back(step);
  }
  for (const std::int64_t batch : kBatches) {
    for (const std::int64_t context : kContexts) {
      StepTokens step;
      step.decode = {batch, context, 0};
      steps.push_back(step);
    }
  }
  return steps;
}

// The least step and one sequence: what a deployment has to hold.
bool holds(const models::ModelDescription& model, const Parallelism& spread, const GpuSpec& gpu) {
  StepTokens step;
  step.decode = {1, kContexts.front(), 0};
  return plan_memory(model, spread, gpu, step, {1, kContexts.front()}).fits;
}

std::vector<Parallelism> usual_spreads(const models::ModelDescription& model, const GpuSpec& gpu) {
  std::vector<Parallelism> spreads;
  std::int64_t fewest = 0;
  for (std::int64_t gpus = 1; gpus <= kMostGpus && (fewest == 0 || gpus <= 2 * fewest); gpus *= 2) {
    const Parallelism split{gpus, 1, 1, 1};
    if (!check(model, split) || !holds(model, split, gpu)) continue;
    if (fewest == 0) fewest = gpus;
    spreads.push_back(split);
    const Parallelism whole{gpus, 1, gpus, 1};
    if (gpus > 1 && check(model, whole)) spreads.push_back(whole);
  }
  return spreads;
}

}  // namespace

Result<std::vector<WeightedCall>> model_calls(const Predictor& predictor, const GpuSpec& gpu,
                                              std::span<const models::ModelDescription> models,
                                              const std::string& framework) {
  using Key = std::tuple<std::string, Attributes, Shape>;
  std::map<Key, double> weights;
  const auto steps = usual_steps();
  for (models::ModelDescription model : models) {
    choose_runtime_formats(model, gpu, framework);
    const auto spreads = usual_spreads(model, gpu);
    if (spreads.empty()) {
      return Error{ErrorCode::usage, fmt::format("{} does not fit into {} {}: plan for a GPU that holds it", model.name,
                                                 kMostGpus, gpu.name)};
    }
    for (const Parallelism& spread : spreads) {
      StepQuestion question{gpu.name, framework, {}, {}};
      question.lower.distribution = *parse_distribution(kDistribution);
      auto predicted = StepPredictor::make(predictor, gpu, model, spread, question);
      if (!predicted) return predicted.error();
      for (const StepTokens& tokens : steps) {
        std::vector<OperatorTime> lines;
        const auto whole = predicted->evaluate(tokens, lines);
        if (!whole) return whole.error();
        for (const OperatorTime& line : lines) {
          const Operator* op = line.lowered->table();
          const auto shape = op == nullptr ? std::nullopt : shape_of(*line.lowered, tokens);
          if (!shape) continue;
          weights[{std::string(op->name()), line.lowered->attributes, *shape}] +=
              line.calls * line.each.time / whole->time / static_cast<double>(spreads.size());
        }
      }
    }
  }
  std::vector<WeightedCall> calls;
  for (const auto& [key, weight] : weights) {
    const auto& [op, attributes, shape] = key;
    if (weight > 0.0) calls.push_back({op, attributes, shape, CacheMode::hot, weight});
  }
  return calls;
}

}  // namespace roofcal
