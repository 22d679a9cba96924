#include "benchmarks/accuracy/dataset.h"

#include "calibrate/fit.h"
#include "db/read_classes.h"

namespace roofcal::accuracy {
namespace {

// Finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace

bool is_held_out(const Shape& shape) {
  std::uint64_t hash = 0;
  for (const std::int64_t value : shape.values()) {
    hash = mix(hash ^ static_cast<std::uint64_t>(value));
  }
  return hash % 5 == 0;
}

Result<std::vector<ClassData>> load_classes(const std::filesystem::path& folder, const GpuCatalogue& catalogue,
                                            const std::string& op, const std::string& filter) {
  auto rows = read_classes(folder, catalogue, [&](const ClassKey& key) {
    return (op.empty() || key.op == op) && describe(key).find(filter) != std::string::npos;
  });
  if (!rows) return rows.error();
  std::vector<ClassData> classes;
  for (const auto& [key, samples] : *rows) {
    ClassData data{key, {}, {}};
    for (const Sample& sample : merge_repeats(samples)) {
      (is_held_out(sample.shape) ? data.held_out : data.pool).push_back(sample);
    }
    classes.push_back(std::move(data));
  }
  return classes;
}

}  // namespace roofcal::accuracy
