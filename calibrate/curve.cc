#include "calibrate/curve.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "calibrate/json_reading.h"

namespace roofcal {
namespace {

constexpr std::size_t kFewestOfACurve = 8;

}  // namespace

Curve::Curve(std::span<const Sample> points) {
  std::vector<Sample> sorted(points.begin(), points.end());
  std::ranges::sort(sorted, {}, &Sample::shape);
  for (const Sample& point : sorted) {
    sizes_.push_back(static_cast<double>(point.shape[0]));
    times_.push_back(point.time.value());
  }
}

double Curve::time(double size) const {
  if (size <= sizes_.front() || sizes_.size() == 1) return times_.front();
  // The segment that the size lies on; the last one for sizes beyond.
  const auto above = std::upper_bound(sizes_.begin() + 1, sizes_.end() - 1, size) - sizes_.begin();
  const auto at = static_cast<std::size_t>(above);
  double slope = (times_[at] - times_[at - 1]) / (sizes_[at] - sizes_[at - 1]);
  if (size > sizes_.back()) slope = std::max(slope, 0.0);  // noise must not let larger calls come out faster
  return size > sizes_.back() ? times_.back() + slope * (size - sizes_.back())
                              : times_[at - 1] + slope * (size - sizes_[at - 1]);
}

Vector Curve::left_out_errors() const {
  Vector errors = Vector::Zero(static_cast<Eigen::Index>(sizes_.size()));
  for (std::size_t i = 0; i < sizes_.size() && sizes_.size() > 1; ++i) {
    Curve others = *this;
    others.sizes_.erase(others.sizes_.begin() + static_cast<std::ptrdiff_t>(i));
    others.times_.erase(others.times_.begin() + static_cast<std::ptrdiff_t>(i));
    errors[static_cast<Eigen::Index>(i)] = std::log(times_[i] / others.time(sizes_[i]));
  }
  return errors;
}

Curve Curve::between_points() const {
  if (sizes_.size() < 3) return *this;
  Curve curve;
  curve.sizes_.push_back(sizes_.front());
  for (std::size_t i = 1; i < sizes_.size(); ++i) {
    curve.sizes_.push_back(std::sqrt(sizes_[i - 1] * sizes_[i]));
  }
  curve.sizes_.push_back(sizes_.back());
  for (const double size : curve.sizes_) {
    curve.times_.push_back(time(size));
  }
  // The ends go on as the segments between the means beside them do, but never to zero.
  const std::size_t last = curve.sizes_.size() - 1;
  const auto carry_on = [&](std::size_t end, std::size_t near, std::size_t far) {
    const double slope = (curve.times_[near] - curve.times_[far]) / (curve.sizes_[near] - curve.sizes_[far]);
    const double there = curve.times_[near] + slope * (curve.sizes_[end] - curve.sizes_[near]);
    curve.times_[end] = std::max(there, 0.5 * curve.times_[near]);
  };
  carry_on(0, 1, 2);
  carry_on(last, last - 1, last - 2);
  return curve;
}

nlohmann::json Curve::to_json() const { return {{"sizes", sizes_}, {"estimates_s", times_}}; }

Curve Curve::from_json(const nlohmann::json& json) {
  Curve curve;
  curve.sizes_ = read_numbers(json, "sizes");
  curve.times_ = read_numbers(json, "estimates_s");
  require(!curve.sizes_.empty() && curve.sizes_.size() == curve.times_.size(),
          "a curve of sizes and times of different number");
  require(std::ranges::adjacent_find(curve.sizes_, std::greater_equal<>()) == curve.sizes_.end(),
          "a curve whose sizes do not ascend");
  require(std::ranges::all_of(curve.times_, [](double time) { return time > 0.0; }),
          "a curve with a time that is not positive");
  return curve;
}

std::size_t fewest_rows(const Operator& op, std::size_t several) {
  return op.fields().size() == 1 ? kFewestOfACurve : several;
}

}  // namespace roofcal
