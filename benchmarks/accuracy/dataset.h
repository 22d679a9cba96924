// The measurement tables of a data folder as classes, each split by a hash of the shape into a pool and a held-out
// fifth.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/sample.h"
#include "db/catalogue.h"

namespace roofcal::accuracy {

struct ClassData {
  ClassKey key;
  std::vector<Sample> pool;      ///< what a fit may choose from, repeats merged
  std::vector<Sample> held_out;  ///< what it is judged on
};

/// Whether a shape belongs to the held-out fifth. Depends on the sizes alone, so that a shape is held out of every
/// class.
[[nodiscard]] bool is_held_out(const Shape& shape);

/// Reads every table below `folder`; classes in order of their keys. `op`: keep one operator, empty for all; `filter`:
/// keep classes whose description contains it.
[[nodiscard]] Result<std::vector<ClassData>> load_classes(const std::filesystem::path& folder,
                                                          const GpuCatalogue& catalogue, const std::string& op,
                                                          const std::string& filter);

}  // namespace roofcal::accuracy
