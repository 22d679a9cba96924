// Memory-bound kernels: launch latency plus bytes over bandwidth, of L2 while they fit and of memory beyond.
#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/featurizers.h"
#include "calibrate/tiles.h"

namespace roofcal {
namespace {

class MemoryFeaturizer final : public Featurizer {
 public:
  MemoryFeaturizer(double bandwidth, double l2) : bandwidth_(bandwidth), l2_(l2) {}

  [[nodiscard]] std::span<const std::string_view> column_names() const override {
    static constexpr std::array<std::string_view, 6> names{"launch", "read", "written", "l2", "beyond_l2", "fetched"};
    return names;
  }

  [[nodiscard]] std::span<const std::string_view> feature_names() const override {
    static constexpr std::array<std::string_view, 3> names{"log_bytes", "written_share", "beyond_l2"};
    return names;
  }

  void evaluate(const Shape& shape, std::span<double> columns, std::span<double> features) const override {
    const auto read = static_cast<double>(shape[0]);
    const auto written = static_cast<double>(shape[1]);
    const double moved = std::max(read + written, 1.0);
    const std::array<double, 6> x{1.0,
                                  read / bandwidth_,
                                  written / bandwidth_,
                                  std::min(moved, l2_) / bandwidth_,
                                  std::max(moved - l2_, 0.0) / bandwidth_,
                                  moved * (1.0 - held_in_l2(moved, l2_, 1.0)) / bandwidth_};
    std::ranges::copy(x, columns.begin());
    const std::array<double, 3> z{std::log2(moved), written / moved, beyond_l2(moved, l2_)};
    std::ranges::copy(z, features.begin());
  }

 private:
  double bandwidth_, l2_;
};

}  // namespace

std::unique_ptr<Featurizer> make_memory_featurizer(const GpuSpec& gpu, const Attributes& /*attributes*/) {
  const double bandwidth = gpu.memory_bandwidth.value();
  const double l2 = gpu.l2.value();
  return bandwidth > 0.0 && l2 > 0.0 ? std::make_unique<MemoryFeaturizer>(bandwidth, l2) : nullptr;
}

}  // namespace roofcal
