// "Did you mean": the known word closest to a mistyped one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace roofcal {

/// Edits (insert, delete, replace, swap of neighbours) between two words.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The closest of `known`, or nullopt when none is close (more than a third of the word would have to change).
[[nodiscard]] std::optional<std::string> closest(std::string_view word, std::span<const std::string> known);

/// "; did you mean X?" or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace roofcal
