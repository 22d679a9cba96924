// How many steps of a model a core evaluates, and how long the first takes.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "db/catalogue.h"
#include "predictor/calibration_library.h"
#include "predictor/models/library.h"
#include "predictor/step/memory_plan.h"
#include "predictor/step/step_predictor.h"

namespace roofcal {
namespace {

template <class T>
T valid(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(exit_status(result.error().code));
  }
  return *std::move(result);
}

struct Deployment {
  const char* model;
  Parallelism spread;
};
constexpr Deployment kDense{"meta-llama/Llama-3.1-70B", {4, 1, 1, 1}};
constexpr Deployment kExperts{"deepseek-ai/DeepSeek-V3", {1, 1, 8, 8}};

// Built-ins of this installation on the H200.
class Setup {
 public:
  explicit Setup(const Deployment& deployment)
      : catalogue_(valid(GpuCatalogue::load(catalogue_folder()))),
        library_(builtin_folder(), catalogue_, nullptr),
        predictor_(catalogue_, library_),
        model_(valid(models::ModelLibrary(models_folder()).describe(deployment.model))),
        steps_(valid(StepPredictor::make(predictor_, *catalogue_.spec("h200_sxm"), model_, deployment.spread,
                                         {"h200_sxm", "", "", {}}))) {}

  StepPredictor& steps() { return steps_; }
  [[nodiscard]] const models::ModelDescription& model() const { return model_; }
  [[nodiscard]] const GpuSpec& gpu() const { return *catalogue_.spec("h200_sxm"); }

 private:
  GpuCatalogue catalogue_;
  CalibrationLibrary library_;
  Predictor predictor_;
  models::ModelDescription model_;
  StepPredictor steps_;
};

StepTokens tokens_of(std::int64_t i) {
  StepTokens tokens;
  tokens.decode = {1 + i % 64, 1024 + 64 * (i % 32), 0};
  if (i % 4 == 0) tokens.prefill = {1, 512, 0};
  return tokens;
}

// Steps whose operators were all priced before.
void known_steps(benchmark::State& state, const Deployment& deployment) {
  Setup setup(deployment);
  for (std::int64_t i = 0; i < 256; ++i) valid(setup.steps().evaluate(tokens_of(i)));
  std::int64_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(setup.steps().evaluate(tokens_of(i++ % 256)));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(known_steps, llama_70b, kDense)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(known_steps, deepseek_v3, kExperts)->Unit(benchmark::kMicrosecond);

// Steps of a context length that was not asked about before.
void new_steps(benchmark::State& state, const Deployment& deployment) {
  Setup setup(deployment);
  std::int64_t i = 0;
  for (auto _ : state) {
    StepTokens tokens;
    tokens.decode = {64, 1024 + i++, 0};
    benchmark::DoNotOptimize(setup.steps().evaluate(tokens));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(new_steps, llama_70b, kDense)->Unit(benchmark::kMicrosecond);

// From nothing to the first answer, as a process does.
void first_step(benchmark::State& state, const Deployment& deployment) {
  for (auto _ : state) {
    Setup setup(deployment);
    benchmark::DoNotOptimize(setup.steps().evaluate(tokens_of(1)));
  }
}
BENCHMARK_CAPTURE(first_step, llama_70b, kDense)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(first_step, deepseek_v3, kExperts)->Unit(benchmark::kMillisecond)->UseRealTime();

void memory_plan(benchmark::State& state) {
  const Setup setup(kDense);
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan_memory(setup.model(), kDense.spread, setup.gpu(), tokens_of(1), {64, 4096}));
  }
}
BENCHMARK(memory_plan)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace roofcal

BENCHMARK_MAIN();
