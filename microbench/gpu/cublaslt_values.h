// Values of cublasLt.h, cublas_api.h and library_types.h that are part of its binary interface.
// cublaslt_values_check.cc compares them with the real headers wherever CUDA is found.
#pragma once

#include <cstdint>

namespace roofcal::microbench::lt {

// cudaDataType_t
inline constexpr int kR32F = 0, kR16F = 2, kR8I = 3, kR32I = 10, kR16BF = 14, kR8FE4M3 = 28, kR4FE2M1 = 33;
// cublasComputeType_t
inline constexpr int kCompute32F = 68, kCompute32I = 72, kCompute32FFastTF32 = 77;
// cublasStatus_t
inline constexpr int kSuccess = 0, kNotSupported = 15, kInvalidValue = 7;
// cublasOperation_t
inline constexpr std::int32_t kOpN = 0, kOpT = 1;
// cublasLtMatmulDescAttributes_t
inline constexpr int kTransA = 3, kTransB = 4, kAScalePointer = 17, kBScalePointer = 18, kFastAccum = 25,
                     kAScaleMode = 31, kBScaleMode = 32;
// cublasLtMatmulMatrixScale_t
inline constexpr std::int32_t kScaleScalar = 0, kScaleVec16UE4M3 = 1, kScaleVec32UE8M0 = 2, kScaleVec128 = 4,
                              kScaleBlock128 = 5;
// cublasLtMatrixLayoutAttribute_t
inline constexpr int kBatchCount = 5, kBatchStride = 6;
// cublasLtMatmulPreferenceAttributes_t
inline constexpr int kMaxWorkspace = 1;
// cublasLtMatmulAlgoConfigAttributes_t
inline constexpr int kAlgoId = 0, kAlgoTile = 1, kAlgoSplitK = 2, kAlgoReduction = 3, kAlgoSwizzle = 4, kAlgoCustom = 5,
                     kAlgoStages = 6, kAlgoInner = 7, kAlgoCluster = 8;

/// cublasLtMatmulHeuristicResult_t.
struct HeuristicResult {
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

}  // namespace roofcal::microbench::lt
