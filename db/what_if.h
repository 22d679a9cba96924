// A GPU that nobody built: another one with some figures changed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "db/catalogue.h"

namespace roofcal {

/// "mem_bw=2x", "mem_bw=8TB/s", "sms=160": one figure set to a value in SI units, or multiplied.
struct FigureChange {
  std::string parameter;  ///< as in what_if_parameters()
  double value = 0.0;     ///< > 0
  bool factor = false;
};

/// The words that --set knows, with what they mean: "mem_bw" -> "memory bandwidth".
struct WhatIfParameter {
  std::string_view name, help;
};
[[nodiscard]] std::span<const WhatIfParameter> what_if_parameters();

/// "8TB/s", "2x", "126MiB", "1.9GHz", "2PFLOP/s", "700W", "160": a quantity of a parameter, in SI units, or a factor.
/// Errors (usage) name the text.
[[nodiscard]] Result<FigureChange> parse_figure_change(std::string_view parameter, std::string_view quantity);
/// "mem_bw=8TB/s,sms=160". Errors (usage) as above, and a parameter that is set twice.
[[nodiscard]] Result<std::vector<FigureChange>> parse_figure_changes(std::string_view text);

/// The catalogue text of `base` with the changes, under a name of its own and with the base's architecture. More SMs or
/// a higher clock raise the arithmetic peaks and the L2's bandwidth with them, unless those are set themselves.
/// Errors (usage), where changes contradict each other or what a GPU can be: `flops` and a single peak; a factor of
/// what the base does not have; SMs that are no whole number; a faster format slower than a wider one; an L2 slower
/// than the memory behind it, or larger.
[[nodiscard]] Result<std::string> what_if_gpu(const CatalogueEntry& base, std::span<const FigureChange> changes,
                                              std::string_view name);

}  // namespace roofcal
