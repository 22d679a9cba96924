// Collectives: launch latency plus a non-decreasing piecewise linear function of the size.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "calibrate/featurizers.h"
#include "core/collective.h"

namespace roofcal {
namespace {

// Any non-decreasing piecewise linear function with these corners is a non-negative sum of the pieces between them.
constexpr std::array<double, 7> kCorners{0x1p12, 0x1p15, 0x1p18, 0x1p21, 0x1p24, 0x1p27, 0x1p30};

class CollectiveFeaturizer final : public Featurizer {
 public:
  explicit CollectiveFeaturizer(double seconds_per_byte) : seconds_per_byte_(seconds_per_byte) {}

  [[nodiscard]] std::span<const std::string_view> column_names() const override {
    static constexpr std::array<std::string_view, kCorners.size() + 2> names{
        "launch", "to_4KiB", "to_32KiB", "to_256KiB", "to_2MiB", "to_16MiB", "to_128MiB", "to_1GiB", "beyond_1GiB"};
    return names;
  }

  [[nodiscard]] std::span<const std::string_view> feature_names() const override {
    static constexpr std::array<std::string_view, 1> names{"log_bytes"};
    return names;
  }

  void evaluate(const Shape& shape, std::span<double> columns, std::span<double> features) const override {
    const auto bytes = static_cast<double>(shape[0]);
    columns[0] = 1.0;
    double from = 0.0;
    for (std::size_t i = 0; i < kCorners.size(); ++i) {
      columns[i + 1] = seconds_per_byte_ * (std::clamp(bytes, from, kCorners[i]) - from);
      from = kCorners[i];
    }
    columns[kCorners.size() + 1] = seconds_per_byte_ * (std::max(bytes, from) - from);
    features[0] = std::log2(bytes);
  }

 private:
  double seconds_per_byte_;  // of the ring or pairwise algorithm at the link's peak
};

}  // namespace

std::unique_ptr<Featurizer> make_collective_featurizer(const GpuSpec& gpu, const Attributes& attributes) {
  const double nvlink = gpu.nvlink_bandwidth.value();
  const double link = nvlink > 0.0 ? nvlink : gpu.pcie_bandwidth.value();
  if (link <= 0.0) {
    return nullptr;
  }
  return std::make_unique<CollectiveFeaturizer>(
      bus_factor(attributes.find("collective")->second, ranks_of(attributes)) / link);
}

}  // namespace roofcal
