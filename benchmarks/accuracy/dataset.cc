#include "benchmarks/accuracy/dataset.h"

#include <map>

#include "calibrate/fit.h"
#include "db/import.h"

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
  const auto files = measurement_files(folder);
  if (!files) return files.error();
  std::map<ClassKey, std::vector<Sample>> rows;
  for (const auto& file : *files) {
    const auto report =
        read_measurements(file, catalogue, ImportOptions{}, [&](std::int64_t, const StoredSample& sample) {
          if ((op.empty() || sample.key.op == op) && describe(sample.key).find(filter) != std::string::npos) {
            rows[sample.key].push_back({sample.shape, sample.time});
          }
          return Result<void>{};
        });
    if (!report) return report.error();
  }
  std::vector<ClassData> classes;
  for (auto& [key, samples] : rows) {
    ClassData data{key, {}, {}};
    for (Sample& sample : merge_repeats(samples)) {
      (is_held_out(sample.shape) ? data.held_out : data.pool).push_back(sample);
    }
    samples = {};
    classes.push_back(std::move(data));
  }
  return classes;
}

}  // namespace roofcal::accuracy
