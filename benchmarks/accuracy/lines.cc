#include "benchmarks/accuracy/lines.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace roofcal::accuracy {
namespace {

constexpr std::size_t kSteps = 40;
constexpr double kDip = 0.95;
constexpr double kNear = 2.0;

bool near(const Shape& shape, const Shape& from, const Shape& to) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto size = static_cast<double>(shape[i]);
    const auto low = static_cast<double>(std::min(from[i], to[i]));
    const auto high = static_cast<double>(std::max(from[i], to[i]));
    if (size < low / kNear || size > high * kNear) return false;
  }
  return true;
}

bool at_least(const Shape& large, const Shape& small) {
  for (std::size_t i = 0; i < large.size(); ++i) {
    if (large[i] < small[i]) return false;
  }
  return true;
}

bool explained(std::span<const Sample> measured, const Shape& from, const Shape& to) {
  std::vector<const Sample*> around;
  for (const Sample& sample : measured) {
    if (near(sample.shape, from, to)) around.push_back(&sample);
  }
  for (const Sample* small : around) {
    for (const Sample* large : around) {
      if (large->time < kDip * small->time && at_least(large->shape, small->shape)) return true;
    }
  }
  return false;
}

}  // namespace

LineFigures judge_lines(const ClassModel& model, std::span<const Sample> measured, std::size_t lines,
                        std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t fields = measured.front().shape.size();
  const auto size_at = [&](std::size_t field, double share) {
    const auto range = model.calibrated_range(field);
    const double low = std::log(static_cast<double>(range.min));
    return std::llround(std::exp(low + share * (std::log(static_cast<double>(range.max)) - low)));
  };
  LineFigures figures;
  for (std::size_t line = 0; line < lines; ++line) {
    const std::size_t along = line % fields;
    Shape fixed(fields);
    for (std::size_t i = 0; i < fields; ++i) {
      fixed[i] = size_at(i, static_cast<double>(random() >> 11U) * 0x1p-53);
    }
    std::vector<Shape> shapes;
    for (std::size_t step = 0; step < kSteps; ++step) {
      Shape shape = fixed;
      shape[along] = size_at(along, static_cast<double>(step) / (kSteps - 1));
      if (shapes.empty() || shape != shapes.back()) shapes.push_back(shape);
    }
    std::vector<Estimate> estimates(shapes.size());
    model.predict(shapes, estimates);
    for (std::size_t i = 1; i < shapes.size(); ++i) {
      ++figures.steps;
      if (estimates[i].time >= kDip * estimates[i - 1].time) continue;
      ++figures.dips;
      figures.unexplained += explained(measured, shapes[i - 1], shapes[i]) ? 0 : 1;
    }
  }
  return figures;
}

}  // namespace roofcal::accuracy
