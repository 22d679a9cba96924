// Predictions as a report.
#pragma once

#include <optional>
#include <span>

#include "core/operator.h"
#include "predictor/predictor.h"
#include "report/report.h"

namespace roofcal::cli {

/// An answer with everything that is told about it.
struct Told {
  const Resolution& resolution;
  const Call& call;
  CacheMode cache = CacheMode::hot;
  Answer answer;
};

/// One record an answer; a single answer is a card with its nearest calibrated points. `nearest` false: leaves those
/// out, for formats that would not print them.
[[nodiscard]] report::Report answer_report(const Operator& op, std::span<const Told> answers, bool nearest);

/// Warnings of the resolution, then those of the answer.
[[nodiscard]] std::vector<std::string> all_warnings(const Told& told);

/// With --strict, the error that an answer of this provenance is; nullopt for what was measured or interpolated.
[[nodiscard]] std::optional<Error> strict_complaint(Provenance provenance, std::string_view what,
                                                    std::span<const std::string> warnings);

}  // namespace roofcal::cli
