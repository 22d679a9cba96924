// A GPU and a kernel that exist only here, for tests that need no measurements.
#pragma once

#include <cmath>
#include <vector>

#include "calibrate/random.h"
#include "core/gpu_spec.h"
#include "core/roofline.h"
#include "core/sample.h"

namespace roofcal::test {

inline GpuSpec synthetic_gpu() {
  GpuSpec gpu;
  gpu.name = "testgpu";
  gpu.sm_count = 100;
  gpu.boost_clock = Hertz(2e9);
  gpu.memory_bandwidth = BytesPerSecond(3e12);
  gpu.l2 = Bytes(50e6);
  gpu.l2_bandwidth = BytesPerSecond(12e12);
  gpu.peaks[static_cast<std::size_t>(Rate::bfloat16)] = FlopsPerSecond(1e15);
  return gpu;
}

inline ClassKey synthetic_key() {
  ClassKey key;
  key.op = "gemm";
  key.gpu = "testgpu";
  key.framework = "trtllm";
  key.version = "1.0";
  key.kernel = "test_kernel";
  key.attributes = {{"dtype", "bfloat16"}};
  return key;
}

/// Launch, imperfect roofline, a last wave of 128 x 128 tiles, one kernel switch at m = 64.
inline double synthetic_time(const Shape& shape) {
  const auto m = static_cast<double>(shape[0]);
  const auto n = static_cast<double>(shape[1]);
  const auto k = static_cast<double>(shape[2]);
  const double waves = std::ceil(std::ceil(m / 128.0) * std::ceil(n / 128.0) / 100.0);
  const double wave_time = waves * 2.0 * 128.0 * 128.0 * k * 100.0 / 1e15;
  const double memory = 2.0 * (m * k + n * k + m * n) / 3e12;
  return 3e-6 + 1.2 * std::max(wave_time, memory) + (m < 64.0 ? 0.2 : 0.0) * memory;
}

/// `count` distinct GEMM shapes, log-uniform, with times that carry 1 % of noise.
inline std::vector<Sample> synthetic_samples(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Sample> samples;
  while (samples.size() < count) {
    const auto draw = [&](double lo, double hi, std::int64_t unit) {
      const double value = std::exp(std::log(lo) + random.uniform() * std::log(hi / lo));
      return std::max<std::int64_t>(1, std::llround(value / static_cast<double>(unit))) * unit;
    };
    Sample sample;
    sample.shape = Shape{draw(1, 16384, 1), draw(128, 32768, 32), draw(128, 32768, 32)};
    sample.time = Seconds(synthetic_time(sample.shape) * (1.0 + 0.01 * (2.0 * random.uniform() - 1.0)));
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace roofcal::test
