#include "benchmarks/accuracy/baselines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "core/operator.h"
#include "core/roofline.h"

namespace roofcal::accuracy {
namespace {

double bound_of(const ClassKey& key, const GpuSpec& gpu, const Shape& shape) {
  return roofline(gpu, find_operator(key.op)->work(key.attributes, shape), key.cache).time.value();
}

double log_size(std::int64_t value) { return std::log2(static_cast<double>(value) + 1.0); }

// A table nested by dimension: each level maps a size to the level below; leaves hold log times.
struct Level {
  std::map<std::int64_t, Level> below;
  double log_time = 0.0;
};

double interpolate(const Level& level, const Shape& shape, std::size_t dimension) {
  if (level.below.empty()) return level.log_time;
  const auto upper = level.below.lower_bound(shape[dimension]);
  if (upper == level.below.end()) return interpolate(std::prev(upper)->second, shape, dimension + 1);
  const double high = interpolate(upper->second, shape, dimension + 1);
  if (upper->first == shape[dimension] || upper == level.below.begin()) return high;
  const auto lower = std::prev(upper);
  const double low = interpolate(lower->second, shape, dimension + 1);
  const double weight =
      (log_size(shape[dimension]) - log_size(lower->first)) / (log_size(upper->first) - log_size(lower->first));
  return low + weight * (high - low);
}

}  // namespace

Baseline plain_roofline(const ClassKey& key, const GpuSpec& gpu) {
  return [key, gpu](const Shape& shape) { return bound_of(key, gpu, shape); };
}

Baseline constant_efficiency(const ClassKey& key, const GpuSpec& gpu, std::span<const Sample> points) {
  std::vector<double> ratios;
  for (const Sample& point : points) {
    ratios.push_back(point.time.value() / bound_of(key, gpu, point.shape));
  }
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::ranges::nth_element(ratios, middle);
  const double inverse_efficiency = *middle;
  return [key, gpu, inverse_efficiency](const Shape& shape) { return bound_of(key, gpu, shape) * inverse_efficiency; };
}

Baseline nearest_five(std::span<const Sample> points) {
  const std::size_t sizes = points.front().shape.size();
  std::vector<double> coordinates;  // `sizes` a point
  std::vector<double> log_times;
  for (const Sample& point : points) {
    for (const std::int64_t value : point.shape.values()) coordinates.push_back(log_size(value));
    log_times.push_back(std::log(point.time.value()));
  }
  return [sizes, coordinates, log_times](const Shape& shape) {
    std::vector<double> here;
    for (const std::int64_t value : shape.values()) here.push_back(log_size(value));
    std::array<std::pair<double, double>, 5> best{};  // distance, log time
    best.fill({INFINITY, 0.0});
    for (std::size_t point = 0; point < log_times.size(); ++point) {
      double squared = 0.0;
      for (std::size_t i = 0; i < sizes; ++i) {
        const double d = coordinates[point * sizes + i] - here[i];
        squared += d * d;
      }
      if (squared < best.back().first) {
        best.back() = {squared, log_times[point]};
        std::ranges::sort(best);
      }
    }
    double weights = 0.0;
    double sum = 0.0;
    for (const auto& [squared, log_time] : best) {
      if (std::isinf(squared)) continue;
      const double weight = 1.0 / (std::sqrt(squared) + 1e-6);
      weights += weight;
      sum += weight * log_time;
    }
    return std::exp(sum / weights);
  };
}

Baseline grid_interpolation(std::span<const Sample> points) {
  auto root = std::make_shared<Level>();
  for (const Sample& point : points) {
    Level* level = root.get();
    for (const std::int64_t value : point.shape.values()) {
      level = &level->below[value];
    }
    level->log_time = std::log(point.time.value());
  }
  return [root](const Shape& shape) { return std::exp(interpolate(*root, shape, 0)); };
}

std::vector<Sample> sub_grid(std::span<const Sample> pool, std::size_t count) {
  if (pool.size() <= count) return {pool.begin(), pool.end()};
  const std::size_t dimensions = pool.front().shape.size();
  std::vector<std::vector<std::int64_t>> values(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::set<std::int64_t> distinct;
    for (const Sample& sample : pool) {
      distinct.insert(sample.shape[d]);
    }
    values[d].assign(distinct.begin(), distinct.end());
  }
  // As many values of every dimension (all, where it has fewer), evenly spaced, ends included; more of them until the
  // grid is as large as asked.
  std::vector<Sample> best;
  std::size_t largest = 0;
  for (const auto& all : values) largest = std::max(largest, all.size());
  for (std::size_t wanted = 2; wanted <= largest; ++wanted) {
    std::vector<std::set<std::int64_t>> kept(dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) {
      const auto all = values[d].size();
      const auto take = std::min(wanted, all);
      for (std::size_t i = 0; i < take; ++i) {
        kept[d].insert(values[d][take == 1 ? 0 : i * (all - 1) / (take - 1)]);
      }
    }
    std::vector<Sample> grid;
    for (const Sample& sample : pool) {
      bool inside = true;
      for (std::size_t d = 0; d < dimensions && inside; ++d) {
        inside = kept[d].contains(sample.shape[d]);
      }
      if (inside) grid.push_back(sample);
    }
    if (grid.empty()) continue;
    const auto gap = [count](std::size_t size) {
      return std::abs(std::log(static_cast<double>(size) / static_cast<double>(count)));
    };
    if (best.empty() || gap(grid.size()) < gap(best.size())) best = std::move(grid);
  }
  return best;
}

}  // namespace roofcal::accuracy
