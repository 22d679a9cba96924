// What one step works on: sequences that are being read, and sequences that are being continued.
#pragma once

#include <cstdint>

namespace roofcal {

/// Of one rank of attention (Parallelism::dp ranks each have as many). A prefill step has only `prefill`, a decode step
/// only `decode`, a mixed step both.
struct StepTokens {
  struct Prefill {
    std::int64_t sequences = 0;
    std::int64_t tokens = 0;  ///< new ones of each sequence
    std::int64_t prefix = 0;  ///< of each sequence, cached already

    friend bool operator==(const Prefill&, const Prefill&) = default;
  } prefill;
  struct Decode {
    std::int64_t sequences = 0;
    std::int64_t context = 0;  ///< cached tokens of each, the new one among them
    std::int64_t drafted = 0;  ///< tokens a sequence that a draft proposed and this step checks, beside the new one

    friend bool operator==(const Decode&, const Decode&) = default;
  } decode;

  [[nodiscard]] std::int64_t prefill_tokens() const { return prefill.sequences * prefill.tokens; }
  [[nodiscard]] std::int64_t decode_tokens() const { return decode.sequences * (1 + decode.drafted); }
  /// What matrix products see.
  [[nodiscard]] std::int64_t tokens() const { return prefill_tokens() + decode_tokens(); }
  /// Tokens whose successor is asked for: the last of a prompt, and all that decode.
  [[nodiscard]] std::int64_t logits() const { return prefill.sequences + decode_tokens(); }
  [[nodiscard]] std::int64_t sequences() const { return prefill.sequences + decode.sequences; }
  /// Entries of the cache that hold these sequences after the step.
  [[nodiscard]] std::int64_t cached() const {
    return prefill.sequences * (prefill.prefix + prefill.tokens) + decode.sequences * (decode.context + decode.drafted);
  }

  friend bool operator==(const StepTokens&, const StepTokens&) = default;
};

}  // namespace roofcal
