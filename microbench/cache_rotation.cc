#include "microbench/cache_rotation.h"

#include <algorithm>
#include <cmath>

namespace roofcal::microbench {

std::string_view CacheRotation::how() const {
  if (mode == CacheMode::hot) return "same_buffers";
  return flush ? "flush_between_bursts" : "rotation";
}

CacheRotation plan_rotation(CacheMode mode, Bytes footprint, Bytes l2, std::size_t max_sets) {
  CacheRotation out;
  out.mode = mode;
  if (mode == CacheMode::hot) return out;
  const double needed = std::max(2.0, std::ceil(2.0 * l2.value() / footprint.value()));
  if (needed <= static_cast<double>(max_sets)) {
    out.sets = static_cast<std::size_t>(needed);
    return out;
  }
  out.sets = max_sets;
  out.flush = true;
  out.flush_bytes = 2.0 * l2;
  return out;
}

}  // namespace roofcal::microbench
