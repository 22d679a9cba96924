// How many predictions a core makes: Google Benchmark over the built-in calibration of H200 bfloat16 GEMM.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "db/catalogue.h"
#include "predictor/calibration_library.h"
#include "predictor/predictor.h"

namespace roofcal {
namespace {

// Built-ins of this machine's installation; ends the run when one is missing, so that no figure comes from nothing.
class BuiltIn {
 public:
  explicit BuiltIn(const Question& question)
      : catalogue_(load_catalogue()),
        library_(builtin_folder(), catalogue_, nullptr),
        predictor_(catalogue_, library_) {
    auto resolved = predictor_.resolve(question);
    if (!resolved) {
      std::fprintf(stderr, "%s\n", resolved.error().message.c_str());
      std::exit(exit_status(resolved.error().code));
    }
    resolution_ = *resolved;
  }
  [[nodiscard]] const Resolution& resolution() const { return *resolution_; }

 private:
  static GpuCatalogue load_catalogue() {
    auto catalogue = GpuCatalogue::load(catalogue_folder());
    if (!catalogue) {
      std::fprintf(stderr, "%s\n", catalogue.error().message.c_str());
      std::exit(1);
    }
    return std::move(*catalogue);
  }

  GpuCatalogue catalogue_;
  CalibrationLibrary library_;
  Predictor predictor_;
  std::shared_ptr<const Resolution> resolution_;
};

Question gemm_question() {
  Question question;
  question.gpu = "h200_sxm";
  question.op = "gemm";
  question.attributes = {{"dtype", "bfloat16"}};
  return question;
}

// Log-uniform shapes within the calibrated range, none of them twice in a row.
std::vector<Shape> gemm_shapes(std::size_t count) {
  std::uint64_t state = 12345;
  const auto draw = [&state](double low, double high) {
    state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth, MMIX
    const double share = static_cast<double>(state >> 11U) / 9007199254740992.0;
    return static_cast<std::int64_t>(low * std::pow(high / low, share));
  };
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < count; ++i) shapes.push_back(Shape{draw(1, 32768), draw(32, 65536), draw(32, 65536)});
  return shapes;
}

void predict_in_batches(benchmark::State& state) {
  const BuiltIn builtin(gemm_question());
  const auto shapes = gemm_shapes(static_cast<std::size_t>(state.range(0)));
  std::vector<Answer> answers(shapes.size());
  for (auto _ : state) {
    builtin.resolution().predict(shapes, answers);
    benchmark::DoNotOptimize(answers.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(predict_in_batches)->Arg(1000)->Unit(benchmark::kMicrosecond);

void predict_one(benchmark::State& state) {
  const BuiltIn builtin(gemm_question());
  const auto shapes = gemm_shapes(4096);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(builtin.resolution().predict(shapes[i++ % shapes.size()]));
  }
}
BENCHMARK(predict_one)->Unit(benchmark::kMicrosecond);

// From nothing to the first answer, as a process does: catalogue, calibration file, one prediction.
void first_answer(benchmark::State& state) {
  for (auto _ : state) {
    const BuiltIn builtin(gemm_question());
    benchmark::DoNotOptimize(builtin.resolution().predict(Shape{4096, 8192, 8192}));
  }
}
BENCHMARK(first_answer)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace roofcal

BENCHMARK_MAIN();
