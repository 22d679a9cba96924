#include "microbench/memory_fit.h"

#include <fmt/format.h>

namespace roofcal::microbench {
namespace {

constexpr double kUsable = 0.95;
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

}  // namespace

Bytes memory_needed(const MeasurementCase& one, const CacheRotation& rotation) {
  Bytes needed = static_cast<double>(rotation.sets) * footprint_of(one) + rotation.flush_bytes;
  if (one.op == "gemm") needed += kGemmWorkspace;
  return needed;
}

std::optional<std::string> reason_not_to_fit(const MeasurementCase& one, const CacheRotation& rotation, Bytes free) {
  const Bytes needed = memory_needed(one, rotation);
  if (needed <= kUsable * free) return std::nullopt;
  return fmt::format("needs {:.1f} GiB of device memory ({} sets of operands), {:.1f} GiB are free",
                     needed.value() / kGiB, rotation.sets, free.value() / kGiB);
}

}  // namespace roofcal::microbench
