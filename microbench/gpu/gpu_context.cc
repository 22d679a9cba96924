#include "microbench/gpu/gpu_context.h"

namespace roofcal::microbench {

Result<void> download(GpuContext& gpu, void* to, const void* from, std::size_t bytes) {
  const auto copied = checked(gpu.api, gpu.api.copy(to, from, bytes, gpu.stream.get()), "cudaMemcpyAsync");
  if (!copied) return copied;
  return checked(gpu.api, gpu.api.synchronize(gpu.stream.get()), "cudaStreamSynchronize");
}

Result<double> element(GpuContext& gpu, const void* data, NumberFormat format, std::uint64_t index) {
  const auto bits = static_cast<std::uint64_t>(bits_of(format));
  std::uint32_t raw = 0;
  const auto bytes = static_cast<std::size_t>(bits < 8 ? 1 : bits / 8);
  const auto* from = static_cast<const unsigned char*>(data) + index * bits / 8;
  if (const auto done = download(gpu, &raw, from, bytes); !done) return done.error();
  if (bits < 8) raw = (raw >> (index % 2 * 4)) & 0xFU;
  return decode(format, raw);
}

Result<std::vector<double>> bfloat16_row(GpuContext& gpu, const void* data, std::uint64_t first, std::size_t count) {
  std::vector<std::uint16_t> raw(count);
  const auto* from = static_cast<const unsigned char*>(data) + first * 2;
  if (const auto done = download(gpu, raw.data(), from, count * 2); !done) return done.error();
  std::vector<double> out;
  out.reserve(count);
  for (const std::uint16_t bits : raw) out.push_back(decode(NumberFormat::bfloat16, bits));
  return out;
}

}  // namespace roofcal::microbench
