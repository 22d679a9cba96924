// The calibrated shapes of a class, with their measured times where those may be kept.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/class_model.h"
#include "core/operator.h"
#include "core/sample.h"

namespace roofcal {

/// Coordinates in which shapes are compared: log2 of the sizes; of size + 1 for a field that may be zero, so that zero
/// has a place too.
[[nodiscard]] double shape_coordinate(const Field& field, std::int64_t value);

class PointSet {
 public:
  PointSet() = default;
  PointSet(std::span<const Sample> points, bool keep_times);

  [[nodiscard]] std::size_t size() const { return shapes_.size(); }
  /// Logarithmic in the number of points.
  [[nodiscard]] std::optional<Seconds> time_of(const Shape& shape) const;
  /// Nearest first; equal distances in the order of shapes. Linear in the number of points.
  [[nodiscard]] std::vector<Neighbour> nearest(const Shape& shape, std::size_t count, const Operator& op) const;

  [[nodiscard]] nlohmann::json to_json() const;
  /// Throws as json_reading.h says.
  [[nodiscard]] static PointSet from_json(const nlohmann::json& json, const Operator& op);

 private:
  std::vector<Shape> shapes_;  // ascending
  std::vector<double> times_;  // seconds, parallel to shapes_; empty when not kept
};

}  // namespace roofcal
