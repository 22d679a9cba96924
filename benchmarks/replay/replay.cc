#include "benchmarks/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include "calibrate/fit.h"
#include "core/moe.h"
#include "predictor/step/step_interval.h"

namespace roofcal::replay {
namespace {

constexpr double kLayers = 60.0;
constexpr double kLogRange = 0.7;  // sizes that belong together differ by at most a factor of two
constexpr std::int64_t kFewTokens = 1;
constexpr std::int64_t kManyTokens = 1024;
constexpr std::size_t kProducts = 5;

using Pick = std::function<std::size_t(std::size_t)>;  // a number below

// Rows whose size, as `size_of` counts it, is about `wanted`, or else those that come closest: indices.
std::vector<std::size_t> about(const Judged& judged, const std::function<double(const Shape&)>& size_of,
                               double wanted) {
  std::vector<std::size_t> out;
  double least = std::numeric_limits<double>::infinity();
  const auto distance = [&](std::size_t i) { return std::abs(std::log(size_of(judged.rows[i].shape) / wanted)); };
  for (std::size_t i = 0; i < judged.rows.size(); ++i) least = std::min(least, distance(i));
  for (std::size_t i = 0; i < judged.rows.size(); ++i) {
    if (distance(i) <= std::max(kLogRange, least)) out.push_back(i);
  }
  return out;
}

double field(const Shape& shape, std::size_t i) { return static_cast<double>(shape[i]); }

// Sums what was measured and what was predicted.
class Step {
 public:
  explicit Step(double correlation) : interval_(correlation) { interval_.reset(kClasses); }

  void add(std::size_t of_class, const Judged& judged, std::size_t row, double calls) {
    const Estimate& estimate = judged.estimates[row];
    measured_ += calls * judged.rows[row].time.value();
    time_ += calls * estimate.time.value();
    interval_.add(of_class, calls * (estimate.time - estimate.lo), calls * (estimate.hi - estimate.time));
  }
  void into(Coverage& coverage) const {
    const double lo = time_ - interval_.below().value();
    const double hi = time_ + interval_.above().value();
    ++coverage.steps;
    coverage.covered += measured_ >= lo && measured_ <= hi ? 1.0 : 0.0;
    coverage.halfwidth += (hi - lo) / 2.0 / time_;
    coverage.error += std::abs(time_ / measured_ - 1.0);
  }

 private:
  static constexpr std::size_t kClasses = 5;
  StepInterval interval_;
  double measured_ = 0.0;
  double time_ = 0.0;
};

Result<Judged> largest(const std::vector<accuracy::ClassData>& classes, const GpuCatalogue& catalogue,
                       std::size_t points) {
  const accuracy::ClassData* best = nullptr;
  for (const accuracy::ClassData& data : classes) {
    if (best == nullptr || data.held_out.size() > best->held_out.size()) best = &data;
  }
  if (best == nullptr || best->held_out.empty()) return Judged{};
  return judge(*best, catalogue, points);
}

}  // namespace

std::string_view to_string(Kind kind) {
  constexpr std::array<std::string_view, kKinds> names{"decode", "prefill", "mixed", "decode with experts"};
  return names[static_cast<std::size_t>(kind)];
}

Result<Judged> judge(const accuracy::ClassData& data, const GpuCatalogue& catalogue, std::size_t points) {
  FitOptions options;
  if (points > 0 && points < data.pool.size()) options.points = points;
  options.compact = points == 0;
  options.publish_times = false;
  auto model = fit_class(data.key, *catalogue.spec(data.key.gpu), data.pool, options);
  if (!model) return model.error();
  Judged out{data.key, data.held_out, std::vector<Estimate>(data.held_out.size())};
  std::vector<Shape> shapes;
  for (const Sample& sample : data.held_out) shapes.push_back(sample.shape);
  model->predict(shapes, out.estimates);
  return out;
}

Result<Operators> load(const std::string& folder, const GpuCatalogue& catalogue, const std::string& gpu,
                       const std::string& framework, std::size_t points) {
  Operators out;
  struct Wanted {
    const char* op;
    std::string attributes;
    std::string by;
    Judged* into;
  };
  const std::string both = "dtype=bfloat16 kv-dtype=bfloat16 ";
  for (const Wanted& wanted :
       {Wanted{"gemm", "dtype=bfloat16 ", framework, &out.gemm},
        Wanted{"generation_attention", both, framework, &out.generation},
        Wanted{"context_attention", both, framework, &out.context},
        Wanted{"collective", "collective=all_reduce ranks=4 topology=node ", "nccl", &out.all_reduce},
        Wanted{"moe", "dtype=bfloat16 gated=yes ", framework, &out.moe}}) {
    const auto classes = accuracy::load_classes(
        folder, catalogue, wanted.op, fmt::format("{} {} {}{}", gpu, wanted.op, wanted.attributes, wanted.by));
    if (!classes) return classes.error();
    auto judged = largest(*classes, catalogue, points);
    if (!judged) return judged.error();
    *wanted.into = *std::move(judged);
  }
  return out;
}

Coverage replay(const Operators& operators, Kind kind, std::int64_t steps, double correlation, std::uint64_t seed) {
  Coverage out;
  std::mt19937_64 engine(seed);
  const Pick below = [&engine](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(engine);
  };
  const Judged& gemm = operators.gemm;
  std::map<std::int64_t, std::vector<std::size_t>> by_tokens;
  for (std::size_t i = 0; i < gemm.rows.size(); ++i) by_tokens[gemm.rows[i].shape[0]].push_back(i);
  const bool many = kind == Kind::prefill || kind == Kind::mixed;
  std::erase_if(by_tokens, [many](const auto& entry) {
    return entry.second.size() < kProducts || entry.first < (many ? kManyTokens : kFewTokens) ||
           (!many && entry.first >= kManyTokens);
  });
  std::vector<std::int64_t> counts;
  for (const auto& entry : by_tokens) counts.push_back(entry.first);
  if (counts.empty()) return out;

  for (std::int64_t attempt = 0; attempt < 20 * steps && out.steps < steps; ++attempt) {
    const std::int64_t tokens = counts[below(counts.size())];
    const auto wanted = static_cast<double>(tokens);
    const auto decoding = about(
        operators.generation, [](const Shape& s) { return field(s, 0); }, kind == Kind::mixed ? 64.0 : wanted);
    const auto reading = about(
        operators.context, [](const Shape& s) { return field(s, 0) * field(s, 1); }, wanted);
    // 8192 values of 16 bits a token.
    const auto reducing = about(
        operators.all_reduce, [](const Shape& s) { return field(s, 0); }, 16384.0 * wanted);
    const auto experts = about(
        operators.moe, [](const Shape& s) { return field(s, 0); }, wanted);
    const bool needs_decode = kind != Kind::prefill;
    if ((needs_decode && decoding.empty()) || (many && reading.empty()) || reducing.empty() ||
        (kind == Kind::experts && experts.empty())) {
      continue;
    }
    Step step(correlation);
    const auto& products = by_tokens[tokens];
    const std::size_t layer_products = kind == Kind::experts ? 2 : 4;
    for (std::size_t i = 0; i < layer_products; ++i) step.add(0, gemm, products[below(products.size())], kLayers);
    step.add(0, gemm, products[below(products.size())], 1.0);
    if (needs_decode) step.add(1, operators.generation, decoding[below(decoding.size())], kLayers);
    if (many) step.add(2, operators.context, reading[below(reading.size())], kLayers);
    step.add(3, operators.all_reduce, reducing[below(reducing.size())], 2.0 * kLayers);
    if (kind == Kind::experts) step.add(4, operators.moe, experts[below(experts.size())], kLayers);
    step.into(out);
  }
  if (out.steps > 0) {
    const auto n = static_cast<double>(out.steps);
    out.covered /= n;
    out.halfwidth /= n;
    out.error /= n;
  }
  return out;
}

}  // namespace roofcal::replay
