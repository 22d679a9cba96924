// Collectives: launch latency plus a non-decreasing piecewise linear function of the size.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "calibrate/featurizers.h"
#include "core/collective.h"

namespace roofcal {
namespace {

// Any non-decreasing piecewise linear function with these corners is a non-negative sum of the pieces between them.
constexpr std::array<double, 7> kCorners{0x1p12, 0x1p15, 0x1p18, 0x1p21, 0x1p24, 0x1p27, 0x1p30};

// Where few points are best placed. A curve is flat while latency leads and straight once bandwidth does; it bends, and
// libraries change protocols, around the size that takes about a latency to transfer: there the points of an octave are
// worth this many more, over a bell of this width. On the public collectives, points not calibrated on: 5.6 % with 8
// points a curve and 4.4 % with 11, against 6.2 and 5.6 % for evenly spaced logarithms.
constexpr double kLatencySeconds = 4e-6;
constexpr double kMoreInTheBend = 1.5;
constexpr double kOctavesOfTheBend = 3.0;

class CollectiveFeaturizer final : public Featurizer {
 public:
  /// `link`: bytes per second.
  CollectiveFeaturizer(double bus_factor, double link)
      : seconds_per_byte_(bus_factor / link), bend_(std::log2(kLatencySeconds * link)) {}

  [[nodiscard]] std::span<const std::string_view> column_names() const override {
    static constexpr std::array<std::string_view, kCorners.size() + 2> names{
        "launch", "to_4KiB", "to_32KiB", "to_256KiB", "to_2MiB", "to_16MiB", "to_128MiB", "to_1GiB", "beyond_1GiB"};
    return names;
  }

  [[nodiscard]] std::span<const std::string_view> feature_names() const override {
    static constexpr std::array<std::string_view, 2> names{"log_bytes", "along_the_curve"};
    return names;
  }

  [[nodiscard]] FitHints hints() const override {
    FitHints hints;
    hints.spread = {"along_the_curve"};
    // Of docs/accuracy.md; nothing below 0.02 is believed.
    hints.beyond = {{"bytes", 0.02, 0.02}};
    return hints;
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
    // The octaves passed so far, those in the bend counted more often: the integral of 1 + kMoreInTheBend * the bell.
    const double to_the_bend = (features[0] - bend_) / (kOctavesOfTheBend * std::numbers::sqrt2);
    const double area = kMoreInTheBend * kOctavesOfTheBend * std::sqrt(std::numbers::pi / 2.0);
    features[1] = features[0] + area * std::erf(to_the_bend);
  }

 private:
  double seconds_per_byte_;  // of the ring or pairwise algorithm at the link's peak
  double bend_;              // log2 of bytes
};

}  // namespace

std::unique_ptr<Featurizer> make_collective_featurizer(const GpuSpec& gpu, const Attributes& attributes) {
  const double nvlink = gpu.nvlink_bandwidth.value();
  const double link = nvlink > 0.0 ? nvlink : gpu.pcie_bandwidth.value();
  if (link <= 0.0) {
    return nullptr;
  }
  return std::make_unique<CollectiveFeaturizer>(bus_factor(attributes.find("collective")->second, ranks_of(attributes)),
                                                link);
}

}  // namespace roofcal
