#include "microbench/gpu/cublaslt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "microbench/gpu/cublaslt_values.h"
#include "microbench/gpu/dynamic_library.h"

namespace roofcal::microbench {
namespace {

struct TypeOf {
  std::string_view dtype;
  int input, output, compute, scale;
  std::int32_t weight_mode, activation_mode;  // cublasLtMatmulMatrixScale_t; -1: no scales
};

constexpr std::array<TypeOf, 9> kTypes{{
    {"float32", lt::kR32F, lt::kR32F, lt::kCompute32F, lt::kR32F, -1, -1},
    {"tf32", lt::kR32F, lt::kR32F, lt::kCompute32FFastTF32, lt::kR32F, -1, -1},
    {"float16", lt::kR16F, lt::kR16F, lt::kCompute32F, lt::kR32F, -1, -1},
    {"bfloat16", lt::kR16BF, lt::kR16BF, lt::kCompute32F, lt::kR32F, -1, -1},
    {"fp8", lt::kR8FE4M3, lt::kR16BF, lt::kCompute32F, lt::kR32F, lt::kScaleScalar, lt::kScaleScalar},
    {"fp8_block", lt::kR8FE4M3, lt::kR16BF, lt::kCompute32F, lt::kR32F, lt::kScaleBlock128, lt::kScaleVec128},
    {"mxfp8", lt::kR8FE4M3, lt::kR16BF, lt::kCompute32F, lt::kR32F, lt::kScaleVec32UE8M0, lt::kScaleVec32UE8M0},
    {"nvfp4", lt::kR4FE2M1, lt::kR16BF, lt::kCompute32F, lt::kR32F, lt::kScaleVec16UE4M3, lt::kScaleVec16UE4M3},
    {"int8", lt::kR8I, lt::kR32I, lt::kCompute32I, lt::kR32I, -1, -1},
}};

std::size_t rounded_up(std::int64_t value, std::int64_t step) {
  return static_cast<std::size_t>((value + step - 1) / step * step);
}

// Scale factors of blocks along k are kept in tiles of 128 rows and 4 blocks (cuBLAS manual, "1D block scaling").
std::size_t tiled_scales(std::int64_t rows, std::int64_t k, std::int64_t block) {
  return rounded_up(rows, 128) * rounded_up((k + block - 1) / block, 4);
}

}  // namespace

LtScales scales_of(const LtProblem& problem) {
  const auto batch = static_cast<std::size_t>(problem.batch);
  const auto& [dtype, m, n, k, ignored] = problem;
  LtScales out;
  if (dtype == "fp8") {
    out = {sizeof(float), sizeof(float), LtScales::Fill::float_ones, "one float32 a tensor, 1"};
  } else if (dtype == "fp8_block") {
    const std::size_t blocks = rounded_up((k + 127) / 128, 4);
    out = {batch * sizeof(float) * blocks * rounded_up((n + 127) / 128, 4),
           batch * sizeof(float) * blocks * rounded_up(m, 4), LtScales::Fill::float_ones,
           "float32 of 128x128 weights and 1x128 activations, all 1"};
  } else if (dtype == "mxfp8") {
    out = {batch * tiled_scales(n, k, 32), batch * tiled_scales(m, k, 32), LtScales::Fill::ue8m0_ones,
           "ue8m0 per 32, all 1"};
  } else if (dtype == "nvfp4") {
    out = {batch * tiled_scales(n, k, 16), batch * tiled_scales(m, k, 16), LtScales::Fill::ue4m3_ones,
           "ue4m3 per 16, all 1"};
  }
  return out;
}

struct CublasLt::Api {
  explicit Api(DynamicLibrary opened) : library(std::move(opened)) {}
  ~Api() {
    if (handle != nullptr) destroy(handle);
  }
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  [[nodiscard]] Result<void> load();
  [[nodiscard]] Result<void> checked(int status, const char* call) const {
    if (status == lt::kSuccess) return {};
    const char* said = status_name == nullptr ? nullptr : status_name(status);
    return Error{ErrorCode::io, fmt::format("{}: {}", call, said == nullptr ? fmt::format("status {}", status) : said)};
  }

  DynamicLibrary library;
  void* handle = nullptr;
  int (*create)(void**) = nullptr;
  int (*destroy)(void*) = nullptr;
  std::size_t (*version)() = nullptr;
  const char* (*status_name)(int) = nullptr;
  int (*layout_create)(void**, int, std::uint64_t, std::uint64_t, std::int64_t) = nullptr;
  int (*layout_destroy)(void*) = nullptr;
  int (*layout_set)(void*, int, const void*, std::size_t) = nullptr;
  int (*desc_create)(void**, int, int) = nullptr;
  int (*desc_destroy)(void*) = nullptr;
  int (*desc_set)(void*, int, const void*, std::size_t) = nullptr;
  int (*preference_create)(void**) = nullptr;
  int (*preference_destroy)(void*) = nullptr;
  int (*preference_set)(void*, int, const void*, std::size_t) = nullptr;
  int (*heuristic)(void*, void*, void*, void*, void*, void*, void*, int, lt::HeuristicResult*, int*) = nullptr;
  int (*algo_get)(const void*, int, void*, std::size_t, std::size_t*) = nullptr;
  int (*matmul)(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*,
                void*, void*, const void*, void*, std::size_t, CudaStream) = nullptr;
};

Result<void> CublasLt::Api::load() {
  // An initialiser list is evaluated in order, and the first complaint counts.
  for (const Result<void>& needed :
       {library.need("cublasLtCreate", create), library.need("cublasLtDestroy", destroy),
        library.need("cublasLtGetVersion", version), library.need("cublasLtMatrixLayoutCreate", layout_create),
        library.need("cublasLtMatrixLayoutDestroy", layout_destroy),
        library.need("cublasLtMatrixLayoutSetAttribute", layout_set),
        library.need("cublasLtMatmulDescCreate", desc_create), library.need("cublasLtMatmulDescDestroy", desc_destroy),
        library.need("cublasLtMatmulDescSetAttribute", desc_set),
        library.need("cublasLtMatmulPreferenceCreate", preference_create),
        library.need("cublasLtMatmulPreferenceDestroy", preference_destroy),
        library.need("cublasLtMatmulPreferenceSetAttribute", preference_set),
        library.need("cublasLtMatmulAlgoGetHeuristic", heuristic),
        library.need("cublasLtMatmulAlgoConfigGetAttribute", algo_get), library.need("cublasLtMatmul", matmul)}) {
    if (!needed) return needed;
  }
  status_name = library.function<const char*(int)>("cublasLtGetStatusName");
  return {};
}

CublasLt::CublasLt(std::unique_ptr<Api> api) : api_(std::move(api)) {}
CublasLt::~CublasLt() = default;

Result<std::unique_ptr<CublasLt>> CublasLt::open(const std::string& library) {
  std::vector<std::string> names{library};
  if (library.empty()) names = {"libcublasLt.so.13", "libcublasLt.so.12"};
  auto opened = DynamicLibrary::open(names);
  if (!opened) return opened.error();
  auto api = std::make_unique<Api>(*std::move(opened));
  if (const auto loaded = api->load(); !loaded) return loaded.error();
  if (const auto made = api->checked(api->create(&api->handle), "cublasLtCreate"); !made) return made.error();
  return std::unique_ptr<CublasLt>(new CublasLt(std::move(api)));
}

std::string CublasLt::version() const {
  const std::size_t version = api_->version();
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

struct CublasLt::Product::Impl {
  Impl(const Api& lt_api, const TypeOf& of) : api(lt_api), type(of) {}
  ~Impl() {
    if (desc != nullptr) api.desc_destroy(desc);
    for (void* layout : {weights, activations, result}) {
      if (layout != nullptr) api.layout_destroy(layout);
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  template <class Value>
  [[nodiscard]] Result<void> set(int attribute, const Value& value, const char* what) const {
    return api.checked(api.desc_set(desc, attribute, &value, sizeof value), what);
  }

  [[nodiscard]] Result<void> make_layout(void** layout, int of, std::int64_t rows, std::int64_t columns,
                                         std::int64_t batch) const {
    const auto made = api.checked(
        api.layout_create(layout, of, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), rows),
        "cublasLtMatrixLayoutCreate");
    if (!made || batch == 1) return made;
    const auto count = static_cast<std::int32_t>(batch);
    const std::int64_t stride = rows * columns;
    if (const auto done = api.checked(api.layout_set(*layout, lt::kBatchCount, &count, sizeof count),
                                      "cublasLtMatrixLayoutSetAttribute(BATCH_COUNT)");
        !done) {
      return done;
    }
    return api.checked(api.layout_set(*layout, lt::kBatchStride, &stride, sizeof stride),
                       "cublasLtMatrixLayoutSetAttribute(STRIDED_BATCH_OFFSET)");
  }

  [[nodiscard]] Result<void> make(const LtProblem& problem) {
    if (const auto done = api.checked(api.desc_create(&desc, type.compute, type.scale), "cublasLtMatmulDescCreate");
        !done) {
      return done;
    }
    if (const auto done = set(lt::kTransA, lt::kOpT, "cublasLtMatmulDescSetAttribute(TRANSA)"); !done) return done;
    if (const auto done = set(lt::kTransB, lt::kOpN, "cublasLtMatmulDescSetAttribute(TRANSB)"); !done) return done;
    if (type.weight_mode >= 0) {
      // A library without the mode (before 12.8 all but scalars) has no kernel for the dtype.
      if (type.weight_mode != lt::kScaleScalar) {
        for (const auto& [attribute, mode] :
             {std::pair(lt::kAScaleMode, type.weight_mode), std::pair(lt::kBScaleMode, type.activation_mode)}) {
          if (!set(attribute, mode, "scale mode")) {
            return Error{ErrorCode::not_calibrated, fmt::format("cublasLt has no {} scales", type.dtype)};
          }
        }
      }
      if (type.dtype == "fp8") {
        const std::int8_t fast = 1;
        if (const auto done = set(lt::kFastAccum, fast, "cublasLtMatmulDescSetAttribute(FAST_ACCUM)"); !done) {
          return done;
        }
      }
    }
    if (const auto done = make_layout(&weights, type.input, problem.k, problem.n, problem.batch); !done) return done;
    if (const auto done = make_layout(&activations, type.input, problem.k, problem.m, problem.batch); !done) {
      return done;
    }
    return make_layout(&result, type.output, problem.n, problem.m, problem.batch);
  }

  const Api& api;
  const TypeOf& type;
  void* desc = nullptr;
  void* weights = nullptr;
  void* activations = nullptr;
  void* result = nullptr;
  Bytes workspace{};
};

CublasLt::Product::Product(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CublasLt::Product::Product(Product&&) noexcept = default;
CublasLt::Product::~Product() = default;

Result<CublasLt::Product> CublasLt::product(const LtProblem& problem) const {
  const auto* type = std::ranges::find(kTypes, problem.dtype, &TypeOf::dtype);
  if (type == kTypes.end()) {
    return Error{ErrorCode::usage, fmt::format("a GEMM in {} cannot be measured by cublasLt", problem.dtype)};
  }
  auto impl = std::make_unique<Product::Impl>(*api_, *type);
  if (const auto made = impl->make(problem); !made) return made.error();
  return Product(std::move(impl));
}

Result<std::vector<LtCandidate>> CublasLt::Product::candidates(int count, Bytes workspace) const {
  const Api& api = impl_->api;
  void* made = nullptr;
  if (const auto done = api.checked(api.preference_create(&made), "cublasLtMatmulPreferenceCreate"); !done) {
    return done.error();
  }
  const std::unique_ptr<void, int (*)(void*)> preference(made, api.preference_destroy);
  const auto bytes = static_cast<std::size_t>(workspace.value());
  if (const auto done = api.checked(api.preference_set(made, lt::kMaxWorkspace, &bytes, sizeof bytes),
                                    "cublasLtMatmulPreferenceSetAttribute(MAX_WORKSPACE_BYTES)");
      !done) {
    return done.error();
  }
  std::vector<lt::HeuristicResult> results(static_cast<std::size_t>(count));
  int found = 0;
  const int status = api.heuristic(api.handle, impl_->desc, impl_->weights, impl_->activations, impl_->result,
                                   impl_->result, made, count, results.data(), &found);
  const bool none = status == lt::kNotSupported || status == lt::kInvalidValue;
  if (!none) {
    if (const auto done = api.checked(status, "cublasLtMatmulAlgoGetHeuristic"); !done) return done.error();
  }
  std::vector<LtCandidate> out;
  for (int i = 0; i < found && !none; ++i) {
    const lt::HeuristicResult& result = results[static_cast<std::size_t>(i)];
    if (result.status != lt::kSuccess) continue;
    LtCandidate candidate;
    std::memcpy(candidate.algorithm.data.data(), result.algorithm, sizeof result.algorithm);
    candidate.workspace_bytes = result.workspace_bytes;
    candidate.waves = result.waves;
    out.push_back(candidate);
  }
  if (out.empty()) {
    return Error{ErrorCode::not_calibrated, fmt::format("cublasLt has no {} kernel for this shape", impl_->type.dtype)};
  }
  return out;
}

std::string CublasLt::Product::describe(const LtCandidate& candidate) const {
  constexpr std::array<std::pair<int, const char*>, 9> kWords{{{lt::kAlgoId, "id"},
                                                               {lt::kAlgoTile, "tile"},
                                                               {lt::kAlgoStages, "stages"},
                                                               {lt::kAlgoSplitK, "splitk"},
                                                               {lt::kAlgoReduction, "reduction"},
                                                               {lt::kAlgoSwizzle, "swizzle"},
                                                               {lt::kAlgoCustom, "custom"},
                                                               {lt::kAlgoInner, "inner"},
                                                               {lt::kAlgoCluster, "cluster"}}};
  std::string out;
  for (const auto& [attribute, word] : kWords) {
    // Inner and cluster shapes are 16 bits, the others 32: a wide zero takes either.
    std::uint32_t value = 0;
    std::size_t written = 0;
    const bool narrow = attribute == lt::kAlgoInner || attribute == lt::kAlgoCluster;
    if (impl_->api.algo_get(candidate.algorithm.data.data(), attribute, &value,
                            narrow ? sizeof(std::uint16_t) : sizeof value, &written) != lt::kSuccess) {
      continue;  // this version's algorithms have no such word
    }
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", word, value);
  }
  return out + fmt::format("{}waves={:.4g}", out.empty() ? "" : " ", candidate.waves);
}

Result<void> CublasLt::Product::run(const LtCandidate& candidate, const Operands& operands, CudaStream stream) const {
  const Impl& impl = *impl_;
  if (operands.weight_scales != nullptr) {
    if (const auto done = impl.set(lt::kAScalePointer, operands.weight_scales, "A_SCALE_POINTER"); !done) return done;
    if (const auto done = impl.set(lt::kBScalePointer, operands.activation_scales, "B_SCALE_POINTER"); !done) {
      return done;
    }
  }
  // alpha and beta are of the scale type.
  const float ones[2] = {1.0F, 0.0F};
  const std::int32_t whole[2] = {1, 0};
  const bool integers = impl.type.scale == lt::kR32I;
  const void* alpha = integers ? static_cast<const void*>(&whole[0]) : &ones[0];
  const void* beta = integers ? static_cast<const void*>(&whole[1]) : &ones[1];
  return impl.api.checked(
      impl.api.matmul(impl.api.handle, impl.desc, alpha, operands.weights, impl.weights, operands.activations,
                      impl.activations, beta, operands.result, impl.result, operands.result, impl.result,
                      candidate.algorithm.data.data(), operands.workspace, candidate.workspace_bytes, stream),
      "cublasLtMatmul");
}

}  // namespace roofcal::microbench
