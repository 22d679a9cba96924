// All measurement tables of a folder, by kernel class, without a store: for rebuilding the built-ins and for
// benchmarks.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <vector>

#include "core/result.h"
#include "core/sample.h"
#include "db/catalogue.h"

namespace roofcal {

/// Samples of each class that `wanted` accepts, in file order. Rows that the importer rejects are left out, as on
/// import. Errors: a file that cannot be read at all.
[[nodiscard]] Result<std::map<ClassKey, std::vector<Sample>>> read_classes(
    const std::filesystem::path& folder, const GpuCatalogue& catalogue,
    const std::function<bool(const ClassKey&)>& wanted);

}  // namespace roofcal
