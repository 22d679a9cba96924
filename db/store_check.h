// Whether a store holds what was put into it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "db/sqlite.h"

namespace roofcal {

/// The hash that is stored beside a calibration's bytes.
[[nodiscard]] std::string blob_hash(std::string_view bytes);

/// As Store::check. A part that cannot even be read is a finding, too.
[[nodiscard]] Result<std::vector<std::string>> check_store(const sqlite::Database& database);

}  // namespace roofcal
