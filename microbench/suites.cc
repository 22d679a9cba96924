#include "microbench/suites.h"

#include <algorithm>
#include <array>
#include <set>

#include "microbench/memory_kernels.h"

namespace roofcal::microbench {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kGiB = 1024 * kMiB;

struct Layer {
  std::int64_t n, k;
};

// Projections of language models as they are served, whole and split over 8 GPUs; the first eight are the quick
// suite's.
constexpr std::array<Layer, 24> kLayers{{
    {4096, 4096},    // Llama 3 8B: output
    {28672, 4096},   // gate and up
    {4096, 14336},   // down
    {8192, 8192},    // Llama 3 70B: output
    {7168, 8192},    // gate and up, tensor parallel 8
    {2112, 7168},    // DeepSeek V3: latents
    {6144, 4096},    // Llama 3 8B: query, key, value
    {10240, 8192},   // 70B: query, key, value
    {57344, 8192},   // gate and up
    {8192, 28672},   // down
    {1280, 8192},    // query, key, value, 8
    {8192, 1024},    // output, 8
    {8192, 3584},    // down, 8
    {24576, 1536},   // DeepSeek V3: queries
    {32768, 512},    // keys and values
    {7168, 16384},   // output
    {4096, 7168},    // shared expert: gate and up
    {7168, 2048},    // down
    {7168, 5120},    // Qwen3 32B: query, key, value (8 kv heads of 128, 40 heads)
    {51200, 5120},   // gate and up
    {5120, 25600},   // down
    {2048, 2048},    // small models
    {151936, 1024},  // a head of Qwen3 0.6B
    {1024, 3072},    // its down
}};

template <class Numbers>
std::vector<std::int64_t> up_to(const Numbers& numbers, std::int64_t most) {
  std::vector<std::int64_t> out;
  std::ranges::copy_if(numbers, std::back_inserter(out), [&](std::int64_t n) { return n <= most; });
  return out;
}

constexpr std::array<std::int64_t, 8> kQuickRows{1, 8, 32, 128, 512, 1024, 4096, 8192};
constexpr std::array<std::int64_t, 15> kRows{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
constexpr std::array<std::int64_t, 32> kFullRows{1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,
                                                 64,  80,  96,  112,  128,  160,  192,  224,  256,  320,  384,
                                                 512, 640, 768, 1024, 1536, 2048, 3072, 4096, 8192, 16384};

// The slow formats' large products would take all the time and matter to nobody.
std::int64_t most_rows(std::string_view dtype, Suite suite) {
  if (dtype == "float32") return 512;
  if (dtype == "tf32") return suite == Suite::full ? 4096 : 1024;
  return kRows.back();
}

class List {
 public:
  explicit List(std::string_view only_op) : only_op_(only_op) {}

  void add(MeasurementCase one) {
    const std::string_view group = one.kind == kOperatorSample || one.op == "gemm" ? one.op : one.kind;
    if (!only_op_.empty() && group != only_op_) return;
    if (seen_.insert(case_id(one)).second) cases_.push_back(std::move(one));
  }

  void gemm(std::string_view dtype, Layer layer, std::int64_t m, CacheMode cache) {
    MeasurementCase one;
    one.kind = std::string(kOperatorSample);
    one.op = "gemm";
    one.kernel = "heuristic";
    one.attributes = {{"dtype", std::string(dtype)}};
    one.sizes = {{"m", m}, {"n", layer.n}, {"k", layer.k}};
    one.cache = cache;
    add(std::move(one));
  }

  void products(std::string_view kind, std::string_view dtype, const Sizes& sizes) {
    MeasurementCase one;
    one.kind = std::string(kind);
    one.op = "gemm";
    one.kernel = "heuristic";
    one.attributes = {{"dtype", std::string(dtype)}};
    one.sizes = sizes;
    add(std::move(one));
  }

  void memory(std::string_view kernel, const Sizes& sizes, CacheMode cache) {
    auto one = memory_case(kernel, sizes, cache);
    if (one) add(*std::move(one));
  }

  void other(std::string_view kind, std::string_view op, const Sizes& sizes = {}) {
    MeasurementCase one;
    one.kind = std::string(kind);
    one.op = std::string(op);
    one.sizes = sizes;
    add(std::move(one));
  }

  [[nodiscard]] std::vector<MeasurementCase> cases() && { return std::move(cases_); }

 private:
  std::string_view only_op_;
  std::set<std::string> seen_;
  std::vector<MeasurementCase> cases_;
};

void add_launches(List& list, Suite suite) {
  for (const char* op : {"kernel_launch", "graph_launch", "host_dispatch"}) list.other(kLaunchKind, op);
  const std::int64_t step = suite == Suite::quick ? 64 : suite == Suite::llm ? 8 : 2;
  for (const char* op : {"host_to_device", "device_to_host"}) {
    for (std::int64_t bytes = 4 * kKiB; bytes <= kGiB; bytes *= step) list.other(kTransferKind, op, {{"bytes", bytes}});
  }
}

void add_bandwidths(List& list, Suite suite, std::int64_t l2) {
  std::vector<std::int64_t> sizes;
  const std::int64_t step = suite == Suite::quick ? 16 : 2;
  for (std::int64_t bytes = 32 * kKiB; bytes <= 8 * kGiB; bytes *= step) sizes.push_back(bytes);
  // The knees lie where the working set leaves the L2.
  const std::vector<double> shares = suite == Suite::quick
                                         ? std::vector<double>{0.4, 4.0}
                                         : std::vector<double>{0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 3.0};
  for (const double share : shares) {
    const auto bytes = static_cast<std::int64_t>(share * static_cast<double>(l2)) / (4 * kKiB) * (4 * kKiB);
    if (bytes > 0) sizes.push_back(bytes);
  }
  for (const std::int64_t bytes : sizes) {
    for (const char* kernel : {"copy", "read", "write", "triad"}) {
      list.memory(kernel, {{"bytes", bytes}}, CacheMode::hot);
      if (suite != Suite::quick) list.memory(kernel, {{"bytes", bytes}}, CacheMode::cold);
    }
  }
}

void add_model_kernels(List& list, Suite suite) {
  const std::vector<std::int64_t> rows = suite == Suite::quick ? up_to(kQuickRows, 8192)
                                         : suite == Suite::llm ? up_to(kRows, 16384)
                                                               : up_to(kFullRows, 16384);
  struct Model {
    std::int64_t hidden, inter, heads, kv_heads, head_dim, vocab;
  };
  constexpr std::array<Model, 3> models{{{8192, 28672, 72, 8, 128, 128256},   // Llama 3 70B, its keys rotated too
                                         {4096, 14336, 40, 8, 128, 128256},   // 8B
                                         {7168, 2048, 129, 1, 64, 129280}}};  // DeepSeek V3
  const std::size_t count = suite == Suite::quick ? 1 : models.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Model& model = models[i];
    for (const std::int64_t n : rows) {
      for (const CacheMode cache : {CacheMode::hot, CacheMode::cold}) {
        if (suite == Suite::quick && cache == CacheMode::cold) continue;
        list.memory("rms_norm", {{"rows", n}, {"hidden", model.hidden}}, cache);
        list.memory("silu_and_mul", {{"rows", n}, {"inter", model.inter}}, cache);
        list.memory("rotary", {{"tokens", n}, {"heads", model.heads}, {"head_dim", model.head_dim}}, cache);
        list.memory("residual_add", {{"rows", n}, {"hidden", model.hidden}}, cache);
        list.memory("embedding_gather", {{"tokens", n}, {"hidden", model.hidden}, {"vocab", model.vocab}}, cache);
        list.memory("kv_append", {{"tokens", n}, {"kv_heads", model.kv_heads}, {"head_dim", model.head_dim}}, cache);
      }
    }
  }
}

void add_gemms(List& list, Suite suite, int capability) {
  const auto dtypes = gemm_dtypes(capability);
  const auto has = [&](std::string_view dtype) { return std::ranges::find(dtypes, dtype) != dtypes.end(); };
  const std::span<const Layer> layers = std::span(kLayers).first(suite == Suite::quick ? 8 : kLayers.size());
  std::vector<std::string_view> first;
  for (const std::string_view dtype : {"bfloat16", "fp8", "nvfp4"}) {
    if (has(dtype)) first.push_back(dtype);
  }
  const std::vector<std::int64_t> rows = suite == Suite::quick ? up_to(kQuickRows, 8192)
                                         : suite == Suite::llm ? up_to(kRows, 16384)
                                                               : up_to(kFullRows, 16384);
  for (const std::string_view dtype : first) {
    for (const Layer& layer : layers) {
      for (const std::int64_t m : rows) list.gemm(dtype, layer, m, CacheMode::hot);
    }
  }
  if (suite == Suite::quick) return;
  // Weights of a decoding step come from memory: cold matters where m is small.
  for (const std::string_view dtype : first) {
    for (const Layer& layer : layers) {
      for (const std::int64_t m : up_to(rows, suite == Suite::full ? 16384 : 512))
        list.gemm(dtype, layer, m, CacheMode::cold);
    }
  }
  for (const std::string_view dtype : dtypes) {
    const std::span<const Layer> some = suite == Suite::full ? layers : layers.first(8);
    for (const Layer& layer : some) {
      for (const std::int64_t m : up_to(suite == Suite::full ? rows : up_to(kRows, 16384), most_rows(dtype, suite))) {
        list.gemm(dtype, layer, m, CacheMode::hot);
      }
    }
  }
  // Attention as batched products.
  for (const std::int64_t batch : {8, 64, 512}) {
    for (const std::int64_t m : {1, 128, 1024}) {
      for (const std::int64_t n : {512, 2048}) {
        list.products(kBatchedGemmKind, "bfloat16", {{"batch", batch}, {"m", m}, {"n", n}, {"k", 128}});
      }
    }
  }
}

}  // namespace

std::string_view to_string(Suite suite) {
  switch (suite) {
    case Suite::quick:
      return "quick";
    case Suite::llm:
      return "llm";
    case Suite::full:
      break;
  }
  return "full";
}

std::optional<Suite> parse_suite(std::string_view text) {
  for (const Suite suite : {Suite::quick, Suite::llm, Suite::full}) {
    if (text == to_string(suite)) return suite;
  }
  return std::nullopt;
}

Seconds budget_of(Suite suite) {
  switch (suite) {
    case Suite::quick:
      return Seconds(60.0);
    case Suite::llm:
      return Seconds(600.0);
    case Suite::full:
      break;
  }
  return Seconds(3600.0);
}

StoppingLimits limits_of(Suite suite) {
  StoppingLimits limits;
  limits.time_limit = Seconds(suite == Suite::quick ? 0.25 : suite == Suite::llm ? 0.5 : 1.0);
  return limits;
}

std::vector<std::string_view> gemm_dtypes(int capability) {
  std::vector<std::string_view> out{"bfloat16", "float16"};
  if (capability >= 89) out.push_back("fp8");
  if (capability == 90) out.push_back("fp8_block");
  if (capability >= 100) out.insert(out.end(), {"mxfp8", "nvfp4"});
  out.insert(out.end(), {"int8", "tf32", "float32"});
  return out;
}

std::vector<MeasurementCase> suite_cases(Suite suite, const GpuFacts& facts, std::string_view only_op) {
  List list(only_op);
  add_launches(list, suite);
  add_bandwidths(list, suite, static_cast<std::int64_t>(facts.l2.value()));
  add_gemms(list, suite, facts.capability());
  add_model_kernels(list, suite);
  return std::move(list).cases();
}

MeasurementCase sentinel_case() {
  MeasurementCase one;
  one.kind = std::string(kSentinelKind);
  one.op = "gemm";
  one.kernel = "heuristic";
  one.attributes = {{"dtype", "bfloat16"}};
  one.sizes = {{"m", 4096}, {"n", 4096}, {"k", 4096}};
  return one;
}

std::vector<MeasurementCase> map_cases(int capability) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t power = 1; power <= 32768; power *= 2) {
    sizes.push_back(power);
    if (power >= 2 && power < 32768) sizes.push_back(power + power / 2);
  }
  List list({});
  for (const std::string_view dtype : gemm_dtypes(capability)) {
    for (const std::int64_t m : sizes) {
      for (const std::int64_t n : sizes) {
        for (const std::int64_t k : sizes) {
          if (n >= 64 && k >= 64) list.gemm(dtype, {n, k}, m, CacheMode::hot);
        }
      }
    }
  }
  auto cases = std::move(list).cases();
  for (MeasurementCase& one : cases) one.kind = std::string(kMapKind);
  return cases;
}

}  // namespace roofcal::microbench
