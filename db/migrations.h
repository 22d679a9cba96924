// The store's schema, as the steps that lead to it from each older version.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/result.h"
#include "db/sqlite.h"

namespace roofcal {

/// SQLite's application_id of a store: "RoCa".
inline constexpr std::int32_t kApplicationId = 0x526f4361;

/// migrations()[v] leads from user_version v to v + 1; version 0 is an empty file. A step that has landed is never
/// changed: another is added.
[[nodiscard]] std::span<const std::string_view> migrations();
[[nodiscard]] int newest_schema_version();

/// Takes a store to the newest version in one transaction; nothing to do when it is there. Errors: what SQLite says,
/// with the store as it was.
[[nodiscard]] Result<void> migrate(sqlite::Database& database);

}  // namespace roofcal
