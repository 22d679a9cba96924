#include "calibrate/point_set.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "calibrate/json_reading.h"
#include "calibrate/packed_text.h"

namespace roofcal {

double shape_coordinate(const Field& field, std::int64_t value) {
  return std::log2(static_cast<double>(std::max<std::int64_t>(value + (field.min <= 0 ? 1 : 0), 1)));
}

PointSet::PointSet(std::span<const Sample> points, bool keep_times) {
  std::vector<Sample> sorted(points.begin(), points.end());
  std::ranges::sort(sorted, {}, &Sample::shape);
  for (const Sample& point : sorted) {
    shapes_.push_back(point.shape);
    if (keep_times) times_.push_back(point.time.value());
  }
}

std::optional<Seconds> PointSet::time_of(const Shape& shape) const {
  if (times_.empty()) return std::nullopt;
  const auto found = std::ranges::lower_bound(shapes_, shape);
  if (found == shapes_.end() || *found != shape) return std::nullopt;
  return Seconds(times_[static_cast<std::size_t>(found - shapes_.begin())]);
}

std::vector<Neighbour> PointSet::nearest(const Shape& shape, std::size_t count, const Operator& op) const {
  const auto fields = op.fields();
  std::vector<double> squared(shapes_.size(), 0.0);
  for (std::size_t field = 0; field < fields.size(); ++field) {
    const double here = shape_coordinate(fields[field], shape[field]);
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const double difference = shape_coordinate(fields[field], shapes_[i][field]) - here;
      squared[i] += difference * difference;
    }
  }
  std::vector<std::size_t> order(shapes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
    return squared[a] != squared[b] ? squared[a] < squared[b] : a < b;
  });
  std::vector<Neighbour> neighbours;
  for (auto at = order.begin(); at != end; ++at) {
    Neighbour& neighbour = neighbours.emplace_back();
    neighbour.shape = shapes_[*at];
    neighbour.distance = std::sqrt(squared[*at]);
    if (!times_.empty()) neighbour.time = Seconds(times_[*at]);
  }
  return neighbours;
}

nlohmann::json PointSet::to_json() const {
  // Few distinct sizes a field: a table of them and an index a point.
  nlohmann::json fields = nlohmann::json::array();
  const std::size_t width = shapes_.empty() ? 0 : shapes_.front().size();
  for (std::size_t field = 0; field < width; ++field) {
    std::vector<std::int64_t> values;
    for (const Shape& shape : shapes_) {
      values.push_back(shape[field]);
    }
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    std::vector<std::uint32_t> indices;
    for (const Shape& shape : shapes_) {
      indices.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(values, shape[field]) - values.begin()));
    }
    fields.push_back({{"values", values}, {"indices", pack_text(indices, 4)}});
  }
  return {{"count", shapes_.size()}, {"fields", fields}, {"times_s", times_}};
}

PointSet PointSet::from_json(const nlohmann::json& json, const Operator& op) {
  constexpr std::int64_t kMostPoints = 1 << 22;
  PointSet points;
  const auto count = static_cast<std::size_t>(read_integer(json, "count", 0, kMostPoints));
  const nlohmann::json& fields = member(json, "fields");
  const std::size_t width = op.fields().size();
  require(fields.is_array() && fields.size() == (count == 0 ? 0 : width), "points whose fields are not the operator's");
  if (count > 0) {
    // The first index array vouches for the count before memory is taken for it.
    require(read_string(fields[0], "indices").size() == 4 * count, "points whose count is not that of their sizes");
    points.shapes_.assign(count, Shape(width));
  }
  for (std::size_t field = 0; field < fields.size(); ++field) {
    const nlohmann::json& values = member(fields[field], "values");
    require(values.is_array(), "\"values\" of the points is not an array");
    for (const nlohmann::json& value : values) {
      require(value.is_number_integer(), "\"values\" of the points holds something that is no whole number");
    }
    const auto sizes = values.get<std::vector<std::int64_t>>();
    const auto indices = unpack_text(read_string(fields[field], "indices"), count, 4);
    for (std::size_t i = 0; i < count; ++i) {
      require(indices[i] < sizes.size(), "a point with a size that is not in the table");
      points.shapes_[i][field] = sizes[indices[i]];
    }
  }
  require(std::ranges::is_sorted(points.shapes_), "points out of order");
  points.times_ = read_numbers(json, "times_s");
  require(points.times_.empty() || points.times_.size() == count, "points and times of different number");
  for (const double time : points.times_) {
    require(time > 0.0, "a measured time that is not positive");
  }
  return points;
}

}  // namespace roofcal
