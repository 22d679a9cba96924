// The own kernels, behind an interface: launches only, without synchronising. Errors of a launch are what
// CudaApi::last_error says afterwards.
#pragma once

#include <cstdint>

#include "microbench/gpu/cuda_api.h"
#include "microbench/number_formats.h"

namespace roofcal::microbench {

/// Cycles and nanoseconds of one SM at one moment; zeros: not read.
struct ClockStamp {
  unsigned long long cycles = 0;
  unsigned long long nanoseconds = 0;
};

/// Pointers are device memory aligned to 16 bytes; bfloat16 data unless said otherwise.
class Kernels {
 public:
  virtual ~Kernels() = default;
  /// Elements 0 .. count-1 become random_bits(format, seed, i).
  virtual void fill_random(NumberFormat format, void* to, std::int64_t count, std::uint64_t seed,
                           CudaStream stream) = 0;
  virtual void fill_ones(float* to, std::int64_t count, CudaStream stream) = 0;
  /// int32 ids: hash_of(seed, i) modulo `vocab`.
  virtual void fill_ids(std::int32_t* to, std::int64_t count, std::int64_t vocab, std::uint64_t seed,
                        CudaStream stream) = 0;
  /// int64 slots: i * step modulo count, each once (step has no divisor in common with count).
  virtual void fill_slots(std::int64_t* to, std::int64_t count, std::int64_t step, CudaStream stream) = 0;

  /// Bytes are multiples of 4.
  virtual void copy(void* to, const void* from, std::int64_t bytes, CudaStream stream) = 0;
  /// The exclusive or of all 32-bit words goes into *to, which the caller has zeroed.
  virtual void read(const void* from, std::int64_t bytes, std::uint32_t* to, CudaStream stream) = 0;
  virtual void write(void* to, std::int64_t bytes, std::uint32_t word, CudaStream stream) = 0;
  /// float32: a = b + s c.
  virtual void triad(float* a, const float* b, const float* c, float s, std::int64_t bytes, CudaStream stream) = 0;

  virtual void rms_norm(const void* x, const void* weight, void* y, std::int64_t rows, std::int64_t hidden,
                        float epsilon, CudaStream stream) = 0;
  virtual void silu_and_mul(const void* x, void* y, std::int64_t rows, std::int64_t inter, CudaStream stream) = 0;
  /// cos_sin: float32, a token's head_dim / 2 cosines, then its sines.
  virtual void rotary(void* x, const float* cos_sin, std::int64_t tokens, std::int64_t heads, std::int64_t head_dim,
                      CudaStream stream) = 0;
  virtual void residual_add(void* a, const void* b, std::int64_t count, CudaStream stream) = 0;
  virtual void embedding_gather(const void* table, const std::int32_t* ids, void* y, std::int64_t tokens,
                                std::int64_t hidden, CudaStream stream) = 0;
  /// Rows of `width` values of keys and of values go to the slots' rows of their caches.
  virtual void kv_append(const void* keys, const void* values, const std::int64_t* slots, void* key_cache,
                         void* value_cache, std::int64_t tokens, std::int64_t width, CudaStream stream) = 0;

  virtual void empty(CudaStream stream) = 0;
  /// SM 0 writes its clocks to *to, memory that host and device see. `sm_count` blocks, so that one lands there.
  virtual void stamp(ClockStamp* to, int sm_count, CudaStream stream) = 0;
};

}  // namespace roofcal::microbench
