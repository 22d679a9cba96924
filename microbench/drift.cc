#include "microbench/drift.h"

#include <algorithm>
#include <cmath>

namespace roofcal::microbench {

double SentinelTrack::add(Seconds median) {
  if (count_++ == 0) first_ = median;
  ratio_ = median / first_;
  worst_ = std::max(worst_, std::abs(ratio_ - 1.0));
  return ratio_;
}

bool SentinelTrack::drifted() const { return std::abs(ratio_ - 1.0) > tolerance_; }

std::optional<double> SentinelTrack::worst() const { return count_ < 2 ? std::nullopt : std::optional(worst_); }

}  // namespace roofcal::microbench
