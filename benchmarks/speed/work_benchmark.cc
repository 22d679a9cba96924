// Fits and imports: Google Benchmark over the public H200 TensorRT-LLM GEMM table ($ROOFCAL_DATA, default
// ../shared/data).
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/fit.h"
#include "db/catalogue.h"
#include "db/import.h"
#include "db/read_classes.h"
#include "db/store.h"

namespace roofcal {
namespace {

namespace fs = std::filesystem;

fs::path table_folder() {
  const char* data = std::getenv("ROOFCAL_DATA");
  return fs::path(data == nullptr ? "../shared/data" : data) / "silicon/h200_sxm/gemm/trtllm/1.3.0rc10";
}

template <class T>
T need(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  return std::move(result).value();
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0 / 1e6;
}

// range(0): points, 0 for all.
void fit_gemm(benchmark::State& state) {
  const auto catalogue = need(GpuCatalogue::load(catalogue_folder()));
  const auto classes = need(read_classes(table_folder(), catalogue,
                                         [](const ClassKey& key) { return key.attributes.at("dtype") == "bfloat16"; }));
  const auto& [key, samples] = *classes.begin();
  FitOptions options;
  if (state.range(0) > 0) options.points = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(need(fit_class(key, *catalogue.spec(key.gpu), samples, options)));
  }
  state.counters["rows"] = static_cast<double>(samples.size());
  state.counters["peak_MB"] = peak_megabytes();
}
BENCHMARK(fit_gemm)->Arg(300)->Arg(1000)->Arg(0)->Iterations(1)->Unit(benchmark::kSecond);

void import_table(benchmark::State& state) {
  const auto catalogue = need(GpuCatalogue::load(catalogue_folder()));
  const auto files = need(measurement_files(table_folder()));
  const fs::path file = fs::temp_directory_path() / "roofcal-import-benchmark.db";
  std::int64_t rows = 0;
  for (auto _ : state) {
    state.PauseTiming();
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file.string() + suffix);
    auto store = need(Store::open(file, Store::Access::write));
    state.ResumeTiming();
    rows += need(import_file(store, files.front(), catalogue, ImportOptions{})).stored;
  }
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file.string() + suffix);
  state.SetItemsProcessed(rows);
  state.counters["peak_MB"] = peak_megabytes();
}
BENCHMARK(import_table)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace roofcal

BENCHMARK_MAIN();
