// Which kernel classes of two sets of measurements stand beside each other.
#pragma once

#include <span>
#include <vector>

#include "core/sample.h"

namespace roofcal {

struct ClassPair {
  /// Of one operator, GPU, kind and cache mode each; several where kernels have other names on the other side, then of
  /// one framework and version.
  std::vector<ClassKey> before, after;
};

struct ClassPairs {
  std::vector<ClassPair> pairs;
  std::vector<ClassKey> only_before, only_after;
};

/// Equal classes first. Of what is left, what differs in the version alone; then all kernels of a framework against
/// each other; then all of the one framework against the other's. Where a side has several versions or frameworks to
/// choose from, the newest and the preferred one (predictor/resolve.h) stand. Keys are unique on each side.
[[nodiscard]] ClassPairs pair_classes(std::span<const ClassKey> before, std::span<const ClassKey> after);

}  // namespace roofcal
