#include "microbench/ceilings.h"

#include <fmt/format.h>

#include "microbench/memory_kernels.h"
#include "microbench/suites.h"

namespace roofcal::microbench {
namespace {

constexpr double kBeyondL2 = 4.0;

}  // namespace

std::vector<MeasurementCase> ceiling_cases(const GpuFacts& facts) {
  std::vector<MeasurementCase> out;
  for (const std::string_view dtype : gemm_dtypes(facts.capability())) {
    for (const std::int64_t size : {4096, 6144, 8192, 12288, 16384}) {
      if (dtype == "float32" && size > 8192) continue;
      MeasurementCase one;
      one.kind = std::string(kOperatorSample);
      one.op = "gemm";
      one.kernel = "heuristic";
      one.attributes = {{"dtype", std::string(dtype)}};
      one.sizes = {{"m", size}, {"n", size}, {"k", size}};
      out.push_back(std::move(one));
    }
  }
  for (const char* kernel : {"copy", "read", "write", "triad"}) {
    for (std::int64_t gib = 1; gib <= 8; gib *= 2) {
      auto one = memory_case(kernel, {{"bytes", gib << 30}}, CacheMode::hot);
      if (one) out.push_back(*std::move(one));
    }
  }
  return out;
}

void CeilingFinder::add(const Outcome& outcome) {
  const MeasurementCase& one = outcome.measured_case;
  if (outcome.state != OutcomeState::measured || outcome.throttled || one.kind != kOperatorSample) return;
  const Work work = work_of(one);
  Ceiling found;
  found.best = one;
  found.time = outcome.statistics.median;
  if (one.op == "gemm") {
    found.what = fmt::format("gemm {}", one.attributes.at("dtype"));
    found.rate = (work.flops / found.time).value();
    found.datasheet = spec_.peak(work.rate).value();
  } else {
    if (footprint_of(one) < kBeyondL2 * l2_) return;
    found.what = fmt::format("memory {}", one.kernel);
    found.rate = (work.bytes() / found.time).value();
    found.datasheet = spec_.memory_bandwidth.value();
  }
  Ceiling& best = best_[found.what];
  found.among = best.among + 1;
  if (found.rate > best.rate) {
    best = std::move(found);
  } else {
    best.among = found.among;
  }
}

std::vector<CeilingFinder::Ceiling> CeilingFinder::ceilings() const {
  std::vector<Ceiling> out;
  for (const auto& [what, ceiling] : best_) out.push_back(ceiling);
  return out;
}

StoredSample ceiling_sample(const CeilingFinder::Ceiling& ceiling, ClassKey key, std::string device,
                            std::string measured_utc) {
  StoredSample sample;
  sample.kind = std::string(kCeilingKind);
  sample.key = std::move(key);
  sample.sizes = ceiling.best.sizes;
  sample.time = ceiling.time;
  const bool flops = ceiling.best.op == "gemm";
  sample.metrics[flops ? "flops_per_s" : "bytes_per_s"] = ceiling.rate;
  if (ceiling.datasheet > 0.0) {
    sample.metrics[flops ? "datasheet_flops_per_s" : "datasheet_bytes_per_s"] = ceiling.datasheet;
    sample.metrics["of_datasheet"] = ceiling.rate / ceiling.datasheet;
  }
  sample.metrics["cases_compared"] = static_cast<double>(ceiling.among);
  sample.device = std::move(device);
  sample.measured_utc = std::move(measured_utc);
  return sample;
}

}  // namespace roofcal::microbench
