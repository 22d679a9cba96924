#include "calibrate/memory_stand_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "calibrate/design.h"
#include "calibrate/model_state.h"
#include "core/memory.h"

namespace roofcal {
namespace {

constexpr std::int64_t kMostRows = 16;  // of a GEMM whose time is that of its weights
constexpr Bytes kSmall(256.0 * 1024);   // below, launching is all of the time
// A collector goes round up to five or six copies of the weights: what is smaller than this share of the L2 stays in
// it, what is larger than twice the L2 never does, and between the two either may be.
constexpr double kSurelyHot = 0.1;
constexpr double kSurelyCold = 2.0;
constexpr double kLarge = 8.0;  // times the L2: neither launch nor ramp counts any more
constexpr double kReached = 0.9;
constexpr std::size_t kFewestRows = 20;
constexpr double kMiss = 0.05;  // on either side of a 90 % interval
constexpr std::size_t kShapesKept = 200;

struct Row {
  Bytes bytes{};
  Seconds time{};
  std::size_t of_class = 0;
  Shape moved;  // as a call of the memory operator
};

struct Weighted {
  double value;
  double weight;
};

double quantile(std::vector<Weighted> values, double level) {
  std::ranges::sort(values, {}, &Weighted::value);
  double total = 0.0;
  for (const Weighted& value : values) total += value.weight;
  double sum = 0.0;
  for (const Weighted& value : values) {
    sum += value.weight;
    if (sum >= level * total) return value.value;
  }
  return values.back().value;
}

std::vector<Row> rows_of(const ClassKey& key, const std::vector<Sample>& samples, std::size_t of_class) {
  const Operator& op = *find_operator(key.op);
  std::vector<Row> rows;
  for (const Sample& sample : samples) {
    if (key.op == "gemm" && sample.shape[0] > kMostRows) continue;
    const Work work = op.work(key.attributes, sample.shape);
    rows.push_back({work.bytes(),
                    sample.time,
                    of_class,
                    {std::llround(work.bytes_read.value()), std::llround(work.bytes_written.value())}});
  }
  return rows;
}

bool beats_the_datasheet(const GpuSpec& gpu, std::span<const Row> rows) {
  return std::ranges::any_of(rows, [&](const Row& row) {
    return row.bytes > kSurelyCold * gpu.l2 && row.bytes / row.time > gpu.memory_bandwidth;
  });
}

std::optional<BytesPerSecond> reached(const GpuSpec& gpu, std::span<const Row> rows) {
  std::vector<Weighted> rates;
  for (const Row& row : rows) {
    if (row.bytes > kLarge * gpu.l2) rates.push_back({(row.bytes / row.time).value(), 1.0});
  }
  if (rates.size() < kFewestRows) return std::nullopt;
  return BytesPerSecond(quantile(std::move(rates), kReached));
}

// Rows of the GEMMs, class after class.
std::vector<Row> gemm_rows(const GpuSpec& gpu, const SamplesByClass& classes) {
  std::vector<Row> all;
  std::size_t index = 0;
  for (const auto& [key, samples] : classes) {
    if (key.gpu != gpu.name || key.op != "gemm" || !tells_about_memory(key)) continue;
    const auto rows = rows_of(key, samples, index++);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

struct Law {
  const GpuSpec& gpu;
  MemoryFigures figures;
  CacheMode cache;

  [[nodiscard]] BytesPerSecond l2() const {
    return BytesPerSecond(std::sqrt(figures.by_gemm.value() * gpu.l2_bandwidth.value()));
  }
  // `l2_rate`: at which what fits the L2 moves.
  [[nodiscard]] Seconds time(Bytes bytes, BytesPerSecond l2_rate) const {
    const Bytes in_l2 = cache == CacheMode::hot ? std::min(bytes, gpu.l2) : Bytes{};
    return figures.launch_floor + in_l2 / l2_rate + (bytes - in_l2) / figures.by_gemm;
  }
  [[nodiscard]] double error(const Row& row) const {
    const double error = std::log(row.time / time(row.bytes, l2()));
    // What may have been in the L2 can only have been faster than a cold call.
    const bool may_be_hot = row.bytes > kSurelyHot * gpu.l2 && row.bytes < kSurelyCold * gpu.l2;
    return cache == CacheMode::cold && may_be_hot ? std::max(error, 0.0) : error;
  }
  // Of a call that finds the L2 at its bound.
  [[nodiscard]] double least_error(const Row& row) const {
    return std::log(time(row.bytes, gpu.l2_bandwidth) / time(row.bytes, l2()));
  }
};

using Edges = std::array<std::int64_t, IntervalModel::kBins - 1>;
using Bins = std::array<Quantiles, IntervalModel::kBins>;

// Errors of the law on rows, in bins of bytes.
class Errors {
 public:
  Errors(const Law& law, std::span<const Row> rows, const Edges& edges) : rows_(rows) {
    std::vector<double> rows_of_class;
    for (const Row& row : rows) {
      rows_of_class.resize(std::max(rows_of_class.size(), row.of_class + 1));
      rows_of_class[row.of_class] += 1.0;
      error_.push_back(law.error(row));
      least_.push_back(law.least_error(row));
      bin_.push_back(static_cast<std::size_t>(
          std::upper_bound(edges.begin(), edges.end(), std::llround(row.bytes.value())) - edges.begin()));
    }
    for (const Row& row : rows) weight_.push_back(1.0 / rows_of_class[row.of_class]);
  }

  // Without one class, where given.
  [[nodiscard]] Bins bins(std::optional<std::size_t> without = {}) const {
    Bins out;
    for (std::size_t bin = 0; bin < out.size(); ++bin) {
      std::vector<Weighted> errors;
      std::vector<Weighted> least;
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (bin_[i] != bin || rows_[i].of_class == without) continue;
        errors.push_back({error_[i], weight_[i]});
        least.push_back({least_[i], weight_[i]});
      }
      if (errors.empty()) continue;
      out[bin].hi = std::max(0.0, quantile(errors, 1.0 - kMiss)) + kMemoryFamilySpread;
      out[bin].lo = std::min({0.0, quantile(errors, kMiss), quantile(least, kMiss)}) - kMemoryFamilySpread;
    }
    return out;
  }

  // The share of rows within intervals made of the other classes.
  [[nodiscard]] double coverage() const {
    const std::size_t classes = 1 + std::ranges::max_element(rows_, {}, &Row::of_class)->of_class;
    double covered = 0.0;
    for (std::size_t c = 0; c < classes; ++c) {
      const Bins limits = bins(c);
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (rows_[i].of_class != c) continue;
        const Quantiles& limit = limits[bin_[i]];
        if (error_[i] >= limit.lo && error_[i] <= limit.hi) covered += weight_[i];
      }
    }
    return covered / static_cast<double>(classes);
  }

  [[nodiscard]] FitFigures figures() const {
    FitFigures figures;
    figures.rows = rows_.size();
    figures.points = rows_.size();
    double weights = 0.0;
    std::vector<Weighted> ape;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      ape.push_back({std::abs(std::expm1(-error_[i])), weight_[i]});
      figures.mape += ape.back().value * weight_[i];
      weights += weight_[i];
      figures.kernel_seconds += rows_[i].time.value();
    }
    figures.mape /= weights;
    figures.p95_ape = quantile(std::move(ape), 1.0 - kMiss);
    figures.coverage90 = coverage();
    return figures;
  }

 private:
  std::span<const Row> rows_;
  std::vector<double> error_, least_, weight_;
  std::vector<std::size_t> bin_;
};

// What is known about whole calls, evenly over the sizes.
std::vector<Sample> shapes_kept(std::span<const Row> rows) {
  std::set<Shape> shapes;
  for (const Row& row : rows) shapes.insert(row.moved);
  std::vector<Sample> all;
  for (const Shape& shape : shapes) all.push_back({shape, {}});
  std::vector<Sample> kept;
  const std::size_t count = std::min(kShapesKept, all.size());
  for (std::size_t i = 0; i < count; ++i)
    kept.push_back(all[i * (all.size() - 1) / std::max<std::size_t>(count - 1, 1)]);
  return kept;
}

// A bus carries what is read and what is written alike: each may be as much as was moved.
CalibratedRange range_of(std::span<const Row> rows) {
  std::vector<Sample> points{{Shape{0, 0}, {}}};
  for (const Row& row : rows) {
    const std::int64_t moved = std::llround(row.bytes.value());
    points.push_back({Shape{moved, moved}, {}});
  }
  return CalibratedRange(points);
}

}  // namespace

bool tells_about_memory(const ClassKey& key) {
  const auto is = [&key](std::string_view attribute, std::string_view value) {
    const auto found = key.attributes.find(attribute);
    return found != key.attributes.end() && found->second == value;
  };
  return (key.op == "gemm" && is("dtype", "bfloat16")) ||
         (key.op == "generation_attention" && is("dtype", "bfloat16") && is("kv-dtype", "bfloat16"));
}

Result<MemoryFigures> memory_figures(const GpuSpec& gpu, const SamplesByClass& classes) {
  MemoryFigures figures;
  std::vector<Weighted> small;
  for (const auto& [key, samples] : classes) {
    if (key.gpu != gpu.name || !tells_about_memory(key)) continue;
    const auto rows = rows_of(key, samples, 0);
    if (key.op == "gemm") {
      for (const Row& row : rows) {
        if (row.bytes < kSmall) small.push_back({row.time.value(), 1.0});
      }
    }
    if (beats_the_datasheet(gpu, rows)) continue;
    BytesPerSecond& best = key.op == "gemm" ? figures.by_gemm : figures.by_attention;
    best = std::max(best, reached(gpu, rows).value_or(BytesPerSecond{}));
  }
  if (small.size() < kFewestRows || !(figures.by_gemm > BytesPerSecond{})) {
    return Error{ErrorCode::not_calibrated,
                 fmt::format("{}: fewer than {} GEMMs in bfloat16 of at most {} rows below 256 KiB, or beyond {} times "
                             "the L2: they cannot tell about its memory",
                             gpu.name, kFewestRows, kMostRows, kLarge)};
  }
  figures.launch_floor = Seconds(quantile(std::move(small), 0.5));
  return figures;
}

Result<ClassModel> memory_stand_in(const GpuSpec& gpu, const SamplesByClass& classes, CacheMode cache) {
  const auto figures = memory_figures(gpu, classes);
  if (!figures) return figures.error();
  auto state = std::make_unique<ClassModel::State>();
  state->op = &memory_operator();
  state->gpu = gpu;
  state->key = {std::string(state->op->name()), gpu.name, "derived", "1", "launch_and_bandwidth", {}, cache};
  state->featurizer = make_featurizer(*state->op, gpu, {});
  if (state->featurizer == nullptr || !(gpu.l2_bandwidth > BytesPerSecond{})) {
    return Error{ErrorCode::bad_data, fmt::format("{} lacks its memory bandwidth, L2 size or L2 bandwidth in the "
                                                  "catalogue: memory-bound kernels are made of them",
                                                  gpu.name)};
  }
  state->derived_from = "GEMMs in bfloat16 of at most 16 rows: their launch floor and the bandwidth of cold weights";

  const Law law{gpu, *figures, cache};
  const auto names = state->featurizer->column_names();
  const auto weigh = [&](std::string_view column, double weight) {
    state->weights[static_cast<std::size_t>(std::ranges::find(names, column) - names.begin())] = weight;
  };
  state->weights.assign(names.size(), 0.0);
  weigh("launch", figures->launch_floor.value());
  weigh("l2", gpu.memory_bandwidth / (cache == CacheMode::hot ? law.l2() : figures->by_gemm));
  weigh("beyond_l2", gpu.memory_bandwidth / figures->by_gemm);

  const std::vector<Row> rows = gemm_rows(gpu, classes);
  if (rows.front().of_class == rows.back().of_class) {
    return Error{ErrorCode::not_calibrated,
                 fmt::format("{}: GEMMs of one class only: how kernels differ cannot be told", gpu.name)};
  }
  const Edges edges{std::llround(kSmall.value()), std::llround(kSurelyHot * gpu.l2.value()),
                    std::llround(kSurelyCold * gpu.l2.value())};
  const Errors errors(law, rows, edges);
  state->figures = errors.figures();
  state->interval = IntervalModel::of_quantiles(edges, errors.bins(), state->figures.coverage90);
  const auto kept = shapes_kept(rows);
  state->bins = FeatureBins::learn(make_design(*state->featurizer, kept).features, FeatureBins::kMaxBins);
  state->range = range_of(rows);
  state->points = PointSet(kept, false);
  return ClassModel(std::move(state));
}

}  // namespace roofcal
