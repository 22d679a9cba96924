// How operands are kept in L2 (hot) or out of it (cold) while a kernel is timed.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/operator.h"
#include "core/units.h"

namespace roofcal::microbench {

struct CacheRotation {
  CacheMode mode = CacheMode::hot;
  std::size_t sets = 1;  ///< copies of the operands, used in turn
  /// Whether sets alone would have to be too many: then the L2 is read full of other data before each burst, outside
  /// the timed region, and every set is used once a burst.
  bool flush = false;
  Bytes flush_bytes{};

  /// "same_buffers", "rotation" or "flush_between_bursts": stored with the sample.
  [[nodiscard]] std::string_view how() const;
};

/// Hot: one set, touched before. Cold: as many sets as make twice the L2, at least two, so that a set has left the L2
/// when its turn comes again; where that needs more than `max_sets`, that many and a flush. `footprint`: bytes that one
/// call touches, > 0.
[[nodiscard]] CacheRotation plan_rotation(CacheMode mode, Bytes footprint, Bytes l2, std::size_t max_sets = 64);

}  // namespace roofcal::microbench
