#include "calibrate/host_bound.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/roofline.h"

namespace roofcal {
namespace {

constexpr double kFloorQuantile = 0.02;
constexpr double kSmallestFloor = 30e-6;  // seconds
constexpr double kPlateau = 1.25;         // times the floor
constexpr double kSmallestSpan = 5.0;     // octaves
constexpr std::size_t kFewestOnPlateau = 20;

double quantile(std::vector<double>& values, double level) {
  const auto index = static_cast<std::ptrdiff_t>(level * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

}  // namespace

bool looks_host_bound(const ClassKey& key, const GpuSpec& gpu, std::span<const Sample> points) {
  const Operator* op = find_operator(key.op);
  if (op == nullptr) return false;
  std::vector<double> times;
  for (const Sample& point : points) {
    times.push_back(point.time.value());
  }
  const double floor = quantile(times, kFloorQuantile);
  if (floor < kSmallestFloor) return false;
  std::vector<double> bounds;
  for (const Sample& point : points) {
    if (point.time.value() > kPlateau * floor) continue;
    // All bytes from memory, whatever the cache mode: the measure of the work, not of what is possible.
    bounds.push_back(std::log2(roofline(gpu, op->work(key.attributes, point.shape), CacheMode::cold).time.value()));
  }
  if (bounds.size() < kFewestOnPlateau) return false;
  return quantile(bounds, 1.0 - kFloorQuantile) - quantile(bounds, kFloorQuantile) > kSmallestSpan;
}

}  // namespace roofcal
