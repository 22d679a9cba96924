// Google Benchmark's results go to the store: the reporter says which benchmark has been reported, and its own display
// reporter (console, JSON, CSV) goes on beside it where it was asked for.
#pragma once

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

namespace roofcal::microbench {

class OutcomeSink {
 public:
  virtual ~OutcomeSink() = default;
  /// One run of the benchmark of this name, whether it succeeded or not. Not called for aggregates over repetitions.
  virtual void reported(const std::string& name) = 0;
};

class StoreReporter final : public benchmark::BenchmarkReporter {
 public:
  /// `own_display`: whether Google Benchmark shows its results too, as --benchmark_format says.
  StoreReporter(OutcomeSink& sink, bool own_display);

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  OutcomeSink& sink_;
  std::unique_ptr<benchmark::BenchmarkReporter> display_;
};

}  // namespace roofcal::microbench
