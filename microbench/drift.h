// Drift of a whole run: one sentinel shape is measured again and again between the others.
#pragma once

#include <cstddef>
#include <optional>

#include "core/units.h"

namespace roofcal::microbench {

/// The first sentinel is what later ones are compared with. Samples taken after a sentinel that lies off by more than
/// the tolerance are flagged until one lies within it again.
class SentinelTrack {
 public:
  explicit SentinelTrack(double tolerance = 0.02) : tolerance_(tolerance) {}

  /// The time over that of the first sentinel, 1 for the first.
  double add(Seconds median);
  [[nodiscard]] bool drifted() const;
  /// The largest |ratio - 1| so far; nullopt before the second sentinel.
  [[nodiscard]] std::optional<double> worst() const;
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  double tolerance_;
  std::size_t count_ = 0;
  Seconds first_{};
  double ratio_ = 1.0;
  double worst_ = 0.0;
};

}  // namespace roofcal::microbench
