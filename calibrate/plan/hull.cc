#include "calibrate/plan/hull.h"

#include <algorithm>
#include <set>

#include "calibrate/random.h"

namespace roofcal {
namespace {

// Draws a shape that is wanted may need: most fail only where nearly all combinations are known or illegal.
constexpr std::size_t kTriesAShape = 20;

}  // namespace

std::vector<Shape> shapes_of_hull(const Operator& op, const Attributes& attributes, const GpuSpec& gpu,
                                  std::span<const Shape> known, std::size_t count, std::uint64_t seed) {
  const Bytes fits = kShareOfMemory * gpu.memory;
  const auto bytes = [&](const Shape& shape) { return op.work(attributes, shape).bytes(); };
  Flops most_flops{};
  Bytes most_bytes{};
  std::vector<Shape> bases;
  for (const Shape& shape : known) {
    if (gpu.memory.value() > 0.0 && bytes(shape) > fits) continue;
    most_flops = std::max(most_flops, op.work(attributes, shape).flops);
    most_bytes = std::max(most_bytes, bytes(shape));
    bases.push_back(shape);
  }
  std::ranges::sort(bases);
  bases.erase(std::ranges::unique(bases).begin(), bases.end());
  if (bases.empty()) return bases;

  Random random(seed);
  std::vector<Shape> shapes = bases;
  random.shuffle(shapes);
  if (shapes.size() > count / 2) shapes.resize(std::max<std::size_t>(1, count / 2));
  std::set<Shape> there(shapes.begin(), shapes.end());
  for (std::size_t tries = kTriesAShape * count; tries > 0 && shapes.size() < count; --tries) {
    Shape shape = bases[random.below(bases.size())];
    const Shape& other = bases[random.below(bases.size())];
    const std::size_t changes = 1 + random.below(2);
    for (std::size_t i = 0; i < changes; ++i) {
      const std::size_t field = random.below(shape.size());
      shape[field] = other[field];
    }
    if (there.contains(shape) || !op.check(attributes, shape)) continue;
    const Work work = op.work(attributes, shape);
    if (work.flops > most_flops || work.bytes() > most_bytes) continue;
    there.insert(shape);
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace roofcal
