#include "calibrate/calibrated_range.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "calibrate/json_reading.h"
#include "calibrate/point_set.h"

namespace roofcal {

CalibratedRange::CalibratedRange(std::span<const Sample> points) {
  for (std::size_t field = 0; field < points.front().shape.size(); ++field) {
    std::vector<std::int64_t> values;
    for (const Sample& point : points) {
      values.push_back(point.shape[field]);
    }
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const std::size_t last = values.size() - 1;
    fields_.push_back(
        {values[0], values[std::min<std::size_t>(1, last)], values[last > 0 ? last - 1 : 0], values[last]});
  }
}

CalibratedRange::Position CalibratedRange::locate(const Shape& shape, const Operator& op,
                                                  std::span<const BeyondCost> costs) const {
  Position position;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Sizes& sizes = fields_[i];
    const std::int64_t value = shape[i];
    if (value < sizes.min || value > sizes.max) {
      const Field& field = op.fields()[i];
      const std::int64_t closest = std::clamp(value, sizes.min, sizes.max);
      position.outside_fields |= 1U << i;
      const double octaves = std::abs(shape_coordinate(field, value) - shape_coordinate(field, closest));
      position.octaves += octaves;
      position.widening += octaves * (value < sizes.min ? costs[i].below : costs[i].above);
      position.region = Region::outside;
    } else if (position.region == Region::inside && sizes.min < sizes.max &&
               ((value > sizes.min && value < sizes.second) || (value > sizes.second_last && value < sizes.max))) {
      position.region = Region::edge;
    }
  }
  return position;
}

nlohmann::json CalibratedRange::to_json() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const Sizes& sizes : fields_) {
    rows.push_back({sizes.min, sizes.second, sizes.second_last, sizes.max});
  }
  return rows;
}

CalibratedRange CalibratedRange::from_json(const nlohmann::json& json, const Operator& op) {
  require(json.is_array() && json.size() == op.fields().size(), "ranges that are not those of the operator's fields");
  CalibratedRange range;
  for (const nlohmann::json& row : json) {
    require(row.is_array() && row.size() == 4 &&
                std::ranges::all_of(row, [](const nlohmann::json& value) { return value.is_number_integer(); }),
            "a range that is not four whole numbers");
    const auto sizes = row.get<std::vector<std::int64_t>>();
    require(sizes[0] <= sizes[1] && sizes[2] <= sizes[3], "a range that is not ascending");
    range.fields_.push_back({sizes[0], sizes[1], sizes[2], sizes[3]});
  }
  return range;
}

}  // namespace roofcal
