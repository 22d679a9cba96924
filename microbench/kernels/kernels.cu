// Simple, wide, grid-stride kernels: what a framework's own fused kernels do, at the bandwidth that a plain one
// reaches.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "microbench/kernels/cuda_kernels.h"
#include "microbench/random_data.h"

namespace roofcal::microbench {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 132 * 64;  // enough for every GPU; the rest is the grid stride's

int blocks_for(std::int64_t items) {
  const std::int64_t blocks = (items + kThreads - 1) / kThreads;
  return static_cast<int>(blocks < 1 ? 1 : blocks < kMostBlocks ? blocks : kMostBlocks);
}

__device__ std::int64_t first_item() { return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ std::int64_t stride() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

__global__ void fill_words(NumberFormat format, std::uint32_t* to, std::int64_t count, std::uint64_t seed) {
  // A thread writes whole words: 1, 2, 4 or 8 elements; the last word may be cut.
  const int bits = bits_of(format);
  const std::int64_t per_word = 32 / bits;
  for (std::int64_t word = first_item(); word * per_word < count; word += stride()) {
    std::uint32_t packed = 0;
    const std::int64_t first = word * per_word;
    for (std::int64_t i = 0; i < per_word && first + i < count; ++i) {
      packed |= random_bits(format, seed, static_cast<std::uint64_t>(first + i)) << (static_cast<int>(i) * bits);
    }
    if (first + per_word <= count) {
      to[word] = packed;
    } else {
      const std::int64_t bytes = ((count - first) * bits + 7) / 8;
      for (std::int64_t b = 0; b < bytes; ++b) {
        reinterpret_cast<unsigned char*>(to + word)[b] = static_cast<unsigned char>(packed >> (8 * b));
      }
    }
  }
}

__global__ void ones(float* to, std::int64_t count) {
  for (std::int64_t i = first_item(); i < count; i += stride()) to[i] = 1.0F;
}

__global__ void ids(std::int32_t* to, std::int64_t count, std::uint64_t vocab, std::uint64_t seed) {
  for (std::int64_t i = first_item(); i < count; i += stride()) {
    to[i] = static_cast<std::int32_t>(hash_of(seed, static_cast<std::uint64_t>(i)) % vocab);
  }
}

__global__ void slot_numbers(std::int64_t* to, std::int64_t count, std::int64_t step) {
  for (std::int64_t i = first_item(); i < count; i += stride()) to[i] = i * step % count;
}

__global__ void copy_vectors(uint4* to, const uint4* from, std::int64_t vectors, std::int64_t words) {
  for (std::int64_t i = first_item(); i < vectors; i += stride()) to[i] = from[i];
  const std::int64_t tail = 4 * vectors + first_item();
  if (tail < words) reinterpret_cast<std::uint32_t*>(to)[tail] = reinterpret_cast<const std::uint32_t*>(from)[tail];
}

__global__ void read_vectors(const uint4* from, std::int64_t vectors, std::int64_t words, std::uint32_t* to) {
  std::uint32_t value = 0;
  for (std::int64_t i = first_item(); i < vectors; i += stride()) {
    const uint4 v = from[i];
    value ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  const std::int64_t tail = 4 * vectors + first_item();
  if (tail < words) value ^= reinterpret_cast<const std::uint32_t*>(from)[tail];
  for (int lane = 16; lane > 0; lane /= 2) value ^= __shfl_xor_sync(0xFFFFFFFFU, value, lane);
  if (threadIdx.x % 32 == 0) atomicXor(to, value);
}

__global__ void write_vectors(uint4* to, std::int64_t vectors, std::int64_t words, std::uint32_t word) {
  const uint4 value = make_uint4(word, word, word, word);
  for (std::int64_t i = first_item(); i < vectors; i += stride()) to[i] = value;
  const std::int64_t tail = 4 * vectors + first_item();
  if (tail < words) reinterpret_cast<std::uint32_t*>(to)[tail] = word;
}

__global__ void triad_vectors(float4* a, const float4* b, const float4* c, float s, std::int64_t vectors,
                              std::int64_t words) {
  for (std::int64_t i = first_item(); i < vectors; i += stride()) {
    const float4 x = b[i];
    const float4 y = c[i];
    a[i] = make_float4(x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w);
  }
  const std::int64_t tail = 4 * vectors + first_item();
  if (tail < words) {
    reinterpret_cast<float*>(a)[tail] =
        reinterpret_cast<const float*>(b)[tail] + s * reinterpret_cast<const float*>(c)[tail];
  }
}

__global__ void rms_norm_rows(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* y,
                              std::int64_t hidden, float epsilon) {
  // A block a row.
  __shared__ float partial[kThreads / 32];
  const __nv_bfloat16* row = x + static_cast<std::int64_t>(blockIdx.x) * hidden;
  __nv_bfloat16* out = y + static_cast<std::int64_t>(blockIdx.x) * hidden;
  float squares = 0.0F;
  for (std::int64_t i = threadIdx.x; i < hidden; i += blockDim.x) {
    const float value = __bfloat162float(row[i]);
    squares += value * value;
  }
  for (int lane = 16; lane > 0; lane /= 2) squares += __shfl_xor_sync(0xFFFFFFFFU, squares, lane);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = squares;
  __syncthreads();
  float sum = 0.0F;
  for (int warp = 0; warp < kThreads / 32; ++warp) sum += partial[warp];
  const float scale = rsqrtf(sum / static_cast<float>(hidden) + epsilon);
  for (std::int64_t i = threadIdx.x; i < hidden; i += blockDim.x) {
    out[i] = __float2bfloat16(__bfloat162float(row[i]) * scale * __bfloat162float(weight[i]));
  }
}

__global__ void silu_and_mul_items(const __nv_bfloat16* x, __nv_bfloat16* y, std::int64_t rows, std::int64_t inter) {
  for (std::int64_t i = first_item(); i < rows * inter; i += stride()) {
    const std::int64_t row = i / inter;
    const std::int64_t column = i - row * inter;
    const float gate = __bfloat162float(x[2 * row * inter + column]);
    const float up = __bfloat162float(x[(2 * row + 1) * inter + column]);
    y[i] = __float2bfloat16(gate / (1.0F + __expf(-gate)) * up);
  }
}

__global__ void rotary_pairs(__nv_bfloat16* x, const float* cos_sin, std::int64_t tokens, std::int64_t heads,
                             std::int64_t half) {
  for (std::int64_t i = first_item(); i < tokens * heads * half; i += stride()) {
    const std::int64_t pair = i % half;
    const std::int64_t head = i / half;
    const std::int64_t token = head / heads;
    __nv_bfloat16* low = x + 2 * head * half + pair;
    __nv_bfloat16* high = low + half;
    const float c = cos_sin[2 * token * half + pair];
    const float s = cos_sin[(2 * token + 1) * half + pair];
    const float a = __bfloat162float(*low);
    const float b = __bfloat162float(*high);
    *low = __float2bfloat16(a * c - b * s);
    *high = __float2bfloat16(b * c + a * s);
  }
}

__global__ void add_items(__nv_bfloat16* a, const __nv_bfloat16* b, std::int64_t count) {
  for (std::int64_t i = first_item(); i < count; i += stride()) {
    a[i] = __float2bfloat16(__bfloat162float(a[i]) + __bfloat162float(b[i]));
  }
}

__global__ void gather_rows(const __nv_bfloat16* table, const std::int32_t* ids_of, __nv_bfloat16* y,
                            std::int64_t tokens, std::int64_t hidden) {
  for (std::int64_t i = first_item(); i < tokens * hidden; i += stride()) {
    const std::int64_t token = i / hidden;
    y[i] = table[static_cast<std::int64_t>(ids_of[token]) * hidden + (i - token * hidden)];
  }
}

__global__ void append_rows(const __nv_bfloat16* keys, const __nv_bfloat16* values, const std::int64_t* slots,
                            __nv_bfloat16* key_cache, __nv_bfloat16* value_cache, std::int64_t tokens,
                            std::int64_t width) {
  for (std::int64_t i = first_item(); i < tokens * width; i += stride()) {
    const std::int64_t token = i / width;
    const std::int64_t to = slots[token] * width + (i - token * width);
    key_cache[to] = keys[i];
    value_cache[to] = values[i];
  }
}

__global__ void nothing() {}

__global__ void read_clocks(ClockStamp* to) {
  unsigned sm = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (sm != 0) return;
  unsigned long long nanoseconds = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  to->cycles = static_cast<unsigned long long>(clock64());
  to->nanoseconds = nanoseconds;
}

using Bf16 = __nv_bfloat16;

class CudaKernels final : public Kernels {
 public:
  void fill_random(NumberFormat format, void* to, std::int64_t count, std::uint64_t seed, CudaStream s) override {
    const std::int64_t words = (count * bits_of(format) + 31) / 32;
    fill_words<<<blocks_for(words), kThreads, 0, s>>>(format, static_cast<std::uint32_t*>(to), count, seed);
  }
  void fill_ones(float* to, std::int64_t count, CudaStream s) override {
    ones<<<blocks_for(count), kThreads, 0, s>>>(to, count);
  }
  void fill_ids(std::int32_t* to, std::int64_t count, std::int64_t vocab, std::uint64_t seed, CudaStream s) override {
    ids<<<blocks_for(count), kThreads, 0, s>>>(to, count, static_cast<std::uint64_t>(vocab), seed);
  }
  void fill_slots(std::int64_t* to, std::int64_t count, std::int64_t step, CudaStream s) override {
    slot_numbers<<<blocks_for(count), kThreads, 0, s>>>(to, count, step);
  }
  void copy(void* to, const void* from, std::int64_t bytes, CudaStream s) override {
    copy_vectors<<<blocks_for(bytes / 16), kThreads, 0, s>>>(static_cast<uint4*>(to), static_cast<const uint4*>(from),
                                                             bytes / 16, bytes / 4);
  }
  void read(const void* from, std::int64_t bytes, std::uint32_t* to, CudaStream s) override {
    read_vectors<<<blocks_for(bytes / 16), kThreads, 0, s>>>(static_cast<const uint4*>(from), bytes / 16, bytes / 4,
                                                             to);
  }
  void write(void* to, std::int64_t bytes, std::uint32_t word, CudaStream s) override {
    write_vectors<<<blocks_for(bytes / 16), kThreads, 0, s>>>(static_cast<uint4*>(to), bytes / 16, bytes / 4, word);
  }
  void triad(float* a, const float* b, const float* c, float factor, std::int64_t bytes, CudaStream s) override {
    triad_vectors<<<blocks_for(bytes / 16), kThreads, 0, s>>>(
        reinterpret_cast<float4*>(a), reinterpret_cast<const float4*>(b), reinterpret_cast<const float4*>(c), factor,
        bytes / 16, bytes / 4);
  }
  void rms_norm(const void* x, const void* weight, void* y, std::int64_t rows, std::int64_t hidden, float epsilon,
                CudaStream s) override {
    rms_norm_rows<<<static_cast<unsigned>(rows), kThreads, 0, s>>>(
        static_cast<const Bf16*>(x), static_cast<const Bf16*>(weight), static_cast<Bf16*>(y), hidden, epsilon);
  }
  void silu_and_mul(const void* x, void* y, std::int64_t rows, std::int64_t inter, CudaStream s) override {
    silu_and_mul_items<<<blocks_for(rows * inter), kThreads, 0, s>>>(static_cast<const Bf16*>(x), static_cast<Bf16*>(y),
                                                                     rows, inter);
  }
  void rotary(void* x, const float* cos_sin, std::int64_t tokens, std::int64_t heads, std::int64_t head_dim,
              CudaStream s) override {
    rotary_pairs<<<blocks_for(tokens * heads * head_dim / 2), kThreads, 0, s>>>(static_cast<Bf16*>(x), cos_sin, tokens,
                                                                                heads, head_dim / 2);
  }
  void residual_add(void* a, const void* b, std::int64_t count, CudaStream s) override {
    add_items<<<blocks_for(count), kThreads, 0, s>>>(static_cast<Bf16*>(a), static_cast<const Bf16*>(b), count);
  }
  void embedding_gather(const void* table, const std::int32_t* ids_of, void* y, std::int64_t tokens,
                        std::int64_t hidden, CudaStream s) override {
    gather_rows<<<blocks_for(tokens * hidden), kThreads, 0, s>>>(static_cast<const Bf16*>(table), ids_of,
                                                                 static_cast<Bf16*>(y), tokens, hidden);
  }
  void kv_append(const void* keys, const void* values, const std::int64_t* slots, void* key_cache, void* value_cache,
                 std::int64_t tokens, std::int64_t width, CudaStream s) override {
    append_rows<<<blocks_for(tokens * width), kThreads, 0, s>>>(
        static_cast<const Bf16*>(keys), static_cast<const Bf16*>(values), slots, static_cast<Bf16*>(key_cache),
        static_cast<Bf16*>(value_cache), tokens, width);
  }
  void empty(CudaStream s) override { nothing<<<1, 32, 0, s>>>(); }
  void stamp(ClockStamp* to, int sm_count, CudaStream s) override {
    read_clocks<<<static_cast<unsigned>(sm_count), 1, 0, s>>>(to);
  }
};

}  // namespace

std::unique_ptr<Kernels> cuda_kernels() { return std::make_unique<CudaKernels>(); }

}  // namespace roofcal::microbench
