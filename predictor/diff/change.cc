#include "predictor/diff/change.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "calibrate/fit.h"

namespace roofcal {
namespace {

constexpr double kMiss = 0.05;       // on either side of a 90 % interval
constexpr double kNormal90 = 1.645;  // half-width of the normal's 90 % interval
constexpr std::size_t kMostBins = 6;
constexpr std::size_t kFewestOfABin = 6;

using Times = std::map<Shape, Seconds>;

Times times_of(const KernelSamples& kernels) {
  Times times;
  for (const auto& samples : kernels) {
    for (const Sample& sample : merge_repeats(samples)) {
      const auto [at, fresh] = times.emplace(sample.shape, sample.time);
      if (!fresh) at->second = std::min(at->second, sample.time);
    }
  }
  return times;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

// The k-th smallest and k-th largest of n values enclose the median with 90 % confidence or more; 0 when none do.
std::size_t order_statistic(std::size_t n) {
  const auto count = static_cast<double>(n);
  double below = 0.0;  // probability that at most k of n lie below the median
  for (std::size_t k = 0; k < n; ++k) {
    const auto at = static_cast<double>(k);
    below += std::exp(std::lgamma(count + 1.0) - std::lgamma(at + 1.0) - std::lgamma(count - at + 1.0) -
                      count * std::log(2.0));
    if (below > kMiss) return k;
  }
  return 0;
}

// How many times a shape was timed, typically, and by how much the turns differ as a whole.
struct Turns {
  std::size_t count = 1;
  std::vector<double> offsets;  // ln, of each turn from the shapes' medians
};

Turns turns_of(const KernelSamples& kernels) {
  Turns turns;
  if (kernels.size() != 1) return turns;
  std::map<Shape, std::vector<double>> logs;
  for (const Sample& sample : kernels.front()) logs[sample.shape].push_back(std::log(sample.time.value()));
  std::vector<double> counts;
  for (const auto& [shape, times] : logs) counts.push_back(static_cast<double>(times.size()));
  if (counts.empty()) return turns;
  turns.count = static_cast<std::size_t>(median_of(counts));
  for (std::size_t turn = 0; turn < turns.count && turns.count > 1; ++turn) {
    std::vector<double> offsets;
    for (const auto& [shape, times] : logs) {
      double mean = 0.0;
      for (const double time : times) mean += time / static_cast<double>(times.size());
      if (turn < times.size()) offsets.push_back(times[turn] - mean);
    }
    turns.offsets.push_back(median_of(offsets));
  }
  return turns;
}

std::optional<double> run_spread(const Turns& before, const Turns& after) {
  double squares = 0.0;
  std::size_t degrees = 0;
  for (const Turns* turns : {&before, &after}) {
    for (const double offset : turns->offsets) squares += offset * offset;
    if (!turns->offsets.empty()) degrees += turns->offsets.size() - 1;
  }
  if (degrees == 0) return std::nullopt;
  return std::sqrt(squares / static_cast<double>(degrees));
}

// `common`: what the runs' own differences add to either side (ln).
Change change_of(std::vector<double> logs, double common, double margin) {
  Change change;
  change.shapes = logs.size();
  if (logs.empty()) return change;
  std::ranges::sort(logs);
  const double median = median_of(logs);
  change.median = std::expm1(median);
  std::vector<double> distances;
  for (const double log : logs) distances.push_back(std::abs(std::expm1(log)));
  change.apart = median_of(std::move(distances));
  const std::size_t k = order_statistic(logs.size());
  if (k == 0) return change;
  change.lo = std::expm1(median - std::hypot(median - logs[k - 1], common));
  change.hi = std::expm1(median + std::hypot(logs[logs.size() - k] - median, common));
  if (*change.lo > margin) {
    change.verdict = Verdict::slower;
  } else if (*change.hi < -margin) {
    change.verdict = Verdict::faster;
  } else if (*change.lo >= -margin && *change.hi <= margin) {
    change.verdict = Verdict::same;
  }
  return change;
}

std::vector<SizeChange> by_size(std::vector<ShapeChange> shapes, std::size_t field, double common, double margin) {
  const std::size_t bins = std::min(kMostBins, shapes.size() / kFewestOfABin);
  std::vector<SizeChange> out;
  if (bins < 2) return out;
  std::ranges::sort(shapes, {}, [field](const ShapeChange& change) { return change.shape[field]; });
  std::size_t begin = 0;
  for (std::size_t bin = 1; bin <= bins && begin < shapes.size(); ++bin) {
    std::size_t end = bin * shapes.size() / bins;
    if (end <= begin) continue;
    const std::int64_t last = shapes[end - 1].shape[field];
    while (end < shapes.size() && shapes[end].shape[field] == last) ++end;  // one size, one bin
    std::vector<double> logs;
    for (std::size_t i = begin; i < end; ++i) logs.push_back(std::log(shapes[i].after / shapes[i].before));
    out.push_back({shapes[begin].shape[field], last, change_of(std::move(logs), common, margin)});
    begin = end;
  }
  return out;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  constexpr std::array<std::string_view, 4> names{"faster", "slower", "same", "undecided"};
  return names[static_cast<std::size_t>(verdict)];
}

ClassChange class_change(const KernelSamples& before, const KernelSamples& after, std::size_t size_field,
                         double margin) {
  ClassChange out;
  const Times old_times = times_of(before);
  const Times new_times = times_of(after);
  std::vector<double> logs;
  for (const auto& [shape, time] : old_times) {
    const auto found = new_times.find(shape);
    if (found == new_times.end()) {
      ++out.only_before;
      continue;
    }
    out.shapes.push_back({shape, time, found->second});
    logs.push_back(std::log(found->second / time));
  }
  out.only_after = new_times.size() - out.shapes.size();

  const Turns old_turns = turns_of(before);
  const Turns new_turns = turns_of(after);
  out.run_spread = run_spread(old_turns, new_turns);
  const double common =
      kNormal90 * out.run_spread.value_or(0.0) *
      std::sqrt(1.0 / static_cast<double>(old_turns.count) + 1.0 / static_cast<double>(new_turns.count));
  out.overall = change_of(std::move(logs), common, margin);
  out.sizes = by_size(out.shapes, size_field, common, margin);
  std::ranges::stable_sort(out.shapes, std::ranges::greater{}, &ShapeChange::change);
  return out;
}

}  // namespace roofcal
