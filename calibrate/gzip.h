// Whole buffers through gzip, with a header that names no time and no system: equal input, equal bytes.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace roofcal {

[[nodiscard]] std::string gzip_compress(std::string_view plain);
/// Errors (bad_data): not gzip, cut off, damaged, or more than `limit` bytes of plain text.
[[nodiscard]] Result<std::string> gzip_decompress(std::string_view packed, std::size_t limit);

}  // namespace roofcal
