// Quantities as a user writes them: sizes and times with units, lists, ranges and powers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/units.h"

namespace roofcal::cli {

/// "4096", "64MiB", "1.5 GB", "2^20": whole bytes. Decimal units (kB, MB, GB, TB) are powers of 1000, binary ones (KiB,
/// MiB, GiB, TiB) of 1024; case counts for nothing but tells no units apart. Errors: usage, naming the text.
[[nodiscard]] Result<std::int64_t> parse_size(std::string_view text);

/// "30ms", "2.5 s", "800us", "100ns", "5min", "2h"; a bare number is seconds. Never negative.
[[nodiscard]] Result<Seconds> parse_time(std::string_view text);

/// "4096" or "2^12": a whole number without unit, which may be negative.
[[nodiscard]] Result<std::int64_t> parse_count(std::string_view text);

/// One quantity or several, in the order written: lists `1,2,4`; ranges `1:64:8` (start, last, step; the step is 1 when
/// left out), whose last value is reached only when a step lands on it; powers `2^0:2^15` (every power between), where
/// a third part is the step of the exponent. Lists may hold ranges. At most 1,000,000 values. Errors: usage.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_counts(std::string_view text);
/// The same for sizes: `1KiB,64MiB`, `1MiB:8MiB:1MiB`, `2^10:2^30`.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_sizes(std::string_view text);

}  // namespace roofcal::cli
