#include "core/roofline.h"

#include <algorithm>
#include <array>

namespace roofcal {

std::string_view to_string(Limit limit) {
  constexpr std::array<std::string_view, 5> names{"compute", "memory", "l2", "link", "latency"};
  return names[static_cast<std::size_t>(limit)];
}

Roofline roofline(const GpuSpec& gpu, const Work& work, CacheMode cache) {
  const auto at = [](auto amount, auto rate) { return rate.value() > 0.0 ? amount / rate : Seconds{}; };
  Roofline r;
  r.compute = at(work.flops, gpu.peak(work.rate));
  r.l2 = at(work.bytes(), gpu.l2_bandwidth);
  const Bytes from_memory = cache == CacheMode::cold ? work.bytes() : std::max(work.bytes() - gpu.l2, Bytes{});
  r.memory = at(from_memory, gpu.memory_bandwidth);
  r.link = at(work.link_bytes, gpu.nvlink_bandwidth.value() > 0.0 ? gpu.nvlink_bandwidth : gpu.pcie_bandwidth);

  r.time = r.compute;
  r.limit = Limit::compute;
  const auto take = [&r](Seconds time, Limit limit) {
    if (time > r.time) {
      r.time = time;
      r.limit = limit;
    }
  };
  take(r.memory, Limit::memory);
  take(r.l2, Limit::l2);
  take(r.link, Limit::link);
  return r;
}

}  // namespace roofcal
