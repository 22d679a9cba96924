// Time as a piecewise linear function of one size: what a class whose shapes have a single field is fitted by.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "calibrate/matrix.h"
#include "core/operator.h"
#include "core/sample.h"

namespace roofcal {

/// Passes through every calibrated point. Linear in the size: interpolating logarithms instead was a point worse on
/// the public collectives (5.8 against 4.9 % with 8 points a curve).
class Curve {
 public:
  Curve() = default;
  /// Precondition: distinct shapes of one field, times > 0.
  explicit Curve(std::span<const Sample> points);

  [[nodiscard]] bool empty() const { return sizes_.empty(); }
  /// Seconds. Below the smallest calibrated size the time there (latency leads); beyond the largest the last slope.
  [[nodiscard]] double time(double size) const;
  /// log t - log estimate of each point, ascending in size, by the curve through the others; zero for one point alone.
  [[nodiscard]] Vector left_out_errors() const;

  /// The same curve between the points: through the geometric means of neighbouring sizes instead of the points, so
  /// that it holds no measured time. With fewer than three points the points themselves are all there is to keep.
  [[nodiscard]] Curve between_points() const;

  [[nodiscard]] nlohmann::json to_json() const;
  /// Throws as json_reading.h says.
  [[nodiscard]] static Curve from_json(const nlohmann::json& json);

 private:
  std::vector<double> sizes_;  // ascending
  std::vector<double> times_;  // seconds
};

/// Rows that a class of the operator needs to be worth a fit: `several`, or as few as a curve takes where its shapes
/// have a single field.
[[nodiscard]] std::size_t fewest_rows(const Operator& op, std::size_t several);

}  // namespace roofcal
