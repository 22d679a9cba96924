// Steps put together from held-out measurements: does the interval of the sum hold as often as it says?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/accuracy/dataset.h"
#include "calibrate/class_model.h"
#include "db/catalogue.h"

namespace roofcal::replay {

/// Held-out rows of one class with what a model says that has not seen them.
struct Judged {
  ClassKey key;
  std::vector<Sample> rows;
  std::vector<Estimate> estimates;  ///< parallel to rows
};

/// Fits on the pool (`points` shapes of it; 0: all, as the built-ins are) and predicts the held-out rows.
[[nodiscard]] Result<Judged> judge(const accuracy::ClassData& data, const GpuCatalogue& catalogue, std::size_t points);

/// Operators of steps on one GPU and framework; the largest class of each.
struct Operators {
  Judged gemm, generation, context, all_reduce;
  Judged moe;  ///< without rows where nobody timed experts
};
[[nodiscard]] Result<Operators> load(const std::string& folder, const GpuCatalogue& catalogue, const std::string& gpu,
                                     const std::string& framework, std::size_t points);

enum class Kind { decode, prefill, mixed, experts };
inline constexpr int kKinds = 4;
[[nodiscard]] std::string_view to_string(Kind kind);

struct Coverage {
  std::int64_t steps = 0;
  double covered = 0.0;    ///< share of steps within the interval
  double halfwidth = 0.0;  ///< mean, over the time
  double error = 0.0;      ///< mean absolute, over the time
};

/// `steps` random steps: four products of one token count, each with the calls of sixty layers, the attention and the
/// all-reduces that go with as many tokens (experts in place of two of the products), and a product for the logits.
/// What they took is the sum of the measured times.
[[nodiscard]] Coverage replay(const Operators& operators, Kind kind, std::int64_t steps, double correlation,
                              std::uint64_t seed);

}  // namespace roofcal::replay
