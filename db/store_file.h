// Opening a store's file: telling a store from anything else before SQLite may touch it, making one, migrating one.
#pragma once

#include <filesystem>
#include <memory>

#include "core/result.h"
#include "db/sqlite.h"

namespace roofcal {

/// Errors: as Store::open.
[[nodiscard]] Result<std::unique_ptr<sqlite::Database>> open_store_to_read(const std::filesystem::path& file);
/// Makes the file and its folder where they are missing.
[[nodiscard]] Result<std::unique_ptr<sqlite::Database>> open_store_to_write(const std::filesystem::path& file);

}  // namespace roofcal
