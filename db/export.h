// A store's samples as a file that anyone can read, and that `import` reads back as it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/result.h"
#include "db/store.h"

namespace roofcal {

/// Writes every sample that matches as CSV (db/roofcal_table.h; gzip'd when the name ends in .gz), whole or
/// not at all (db/whole_file.h). `progress`, if any, hears how many samples are written, now and
/// then. Returns their number.
[[nodiscard]] Result<std::int64_t> export_samples(const Store& store, const ClassFilter& filter,
                                                  const std::filesystem::path& file,
                                                  const std::function<void(std::int64_t)>& progress = {});

}  // namespace roofcal
