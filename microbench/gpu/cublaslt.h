// cublasLt, opened at run time. One product: activations (m x k) times weights (n x k) transposed, both row-major, as
// frameworks call it; in cublasLt's column-major words D (n x m) = A^T B with A = weights: TN, bias-free.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "microbench/gpu/cuda_api.h"

namespace roofcal::microbench {

/// cublasLtMatmulAlgo_t.
struct LtAlgorithm {
  std::array<std::uint64_t, 8> data{};
};

struct LtCandidate {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes = 0;
  float waves = 0.0F;
};

struct LtProblem {
  std::string dtype;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;  ///< products, their operands one after another
};

/// Bytes of the scale factors that a dtype needs beside its operands; all scales are 1, whose bytes are `fill`: a byte
/// pattern repeated, or float32 ones.
struct LtScales {
  std::size_t weight_bytes = 0;
  std::size_t activation_bytes = 0;
  enum class Fill { none, float_ones, ue8m0_ones, ue4m3_ones } fill = Fill::none;
  std::string description;  ///< stored with the sample
};
[[nodiscard]] LtScales scales_of(const LtProblem& problem);

class CublasLt {
 public:
  /// `library`: for tests; empty: libcublasLt.so.13, else .12. Errors: io.
  [[nodiscard]] static Result<std::unique_ptr<CublasLt>> open(const std::string& library = {});
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  [[nodiscard]] std::string version() const;  ///< "13.1.0"

  /// A product's descriptors.
  class Product {
   public:
    ~Product();
    Product(Product&&) noexcept;

    /// The heuristic's choices, best first, at most `count`. Errors: not_calibrated where it has none.
    [[nodiscard]] Result<std::vector<LtCandidate>> candidates(int count, Bytes workspace) const;
    /// "id=66 tile=18 stages=36 splitk=1 reduction=0 swizzle=0 custom=0 inner=0 cluster=5 waves=1.25".
    [[nodiscard]] std::string describe(const LtCandidate& candidate) const;
    struct Operands {
      const void* weights = nullptr;
      const void* activations = nullptr;
      void* result = nullptr;
      const void* weight_scales = nullptr;
      const void* activation_scales = nullptr;
      void* workspace = nullptr;
    };
    [[nodiscard]] Result<void> run(const LtCandidate& candidate, const Operands& operands, CudaStream stream) const;

   private:
    friend class CublasLt;
    struct Impl;
    explicit Product(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
  };
  /// The result must not outlive this. Errors: usage for a dtype without kernels here; io for what cublasLt refuses.
  [[nodiscard]] Result<Product> product(const LtProblem& problem) const;

 private:
  struct Api;
  explicit CublasLt(std::unique_ptr<Api> api);
  std::unique_ptr<Api> api_;
};

}  // namespace roofcal::microbench
