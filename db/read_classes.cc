#include "db/read_classes.h"

#include "db/import.h"

namespace roofcal {

Result<std::map<ClassKey, std::vector<Sample>>> read_classes(const std::filesystem::path& folder,
                                                             const GpuCatalogue& catalogue,
                                                             const std::function<bool(const ClassKey&)>& wanted) {
  const auto files = measurement_files(folder);
  if (!files) return files.error();
  std::map<ClassKey, std::vector<Sample>> classes;
  for (const auto& file : *files) {
    const auto report =
        read_measurements(file, catalogue, ImportOptions{}, [&](std::int64_t /*line*/, const StoredSample& sample) {
          if (wanted(sample.key)) {
            classes[sample.key].push_back({sample.shape, sample.time});
          }
          return Result<void>{};
        });
    if (!report) return report.error();
  }
  return classes;
}

}  // namespace roofcal
