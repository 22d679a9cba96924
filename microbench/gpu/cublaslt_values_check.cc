// Compares cublaslt_values.h with CUDA's own headers: it compiles, or they have changed.
#include <cublasLt.h>

#include "microbench/gpu/cublaslt.h"
#include "microbench/gpu/cublaslt_values.h"

namespace roofcal::microbench::lt {

static_assert(CUDA_R_32F == kR32F && CUDA_R_16F == kR16F && CUDA_R_8I == kR8I && CUDA_R_32I == kR32I &&
              CUDA_R_16BF == kR16BF && CUDA_R_8F_E4M3 == kR8FE4M3 && CUDA_R_4F_E2M1 == kR4FE2M1);
static_assert(CUBLAS_COMPUTE_32F == kCompute32F && CUBLAS_COMPUTE_32I == kCompute32I &&
              CUBLAS_COMPUTE_32F_FAST_TF32 == kCompute32FFastTF32);
static_assert(CUBLAS_STATUS_SUCCESS == kSuccess && CUBLAS_STATUS_NOT_SUPPORTED == kNotSupported &&
              CUBLAS_STATUS_INVALID_VALUE == kInvalidValue);
static_assert(CUBLAS_OP_N == kOpN && CUBLAS_OP_T == kOpT);
static_assert(CUBLASLT_MATMUL_DESC_TRANSA == kTransA && CUBLASLT_MATMUL_DESC_TRANSB == kTransB &&
              CUBLASLT_MATMUL_DESC_A_SCALE_POINTER == kAScalePointer &&
              CUBLASLT_MATMUL_DESC_B_SCALE_POINTER == kBScalePointer && CUBLASLT_MATMUL_DESC_FAST_ACCUM == kFastAccum &&
              CUBLASLT_MATMUL_DESC_A_SCALE_MODE == kAScaleMode && CUBLASLT_MATMUL_DESC_B_SCALE_MODE == kBScaleMode);
static_assert(CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F == kScaleScalar &&
              CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3 == kScaleVec16UE4M3 &&
              CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0 == kScaleVec32UE8M0 &&
              CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F == kScaleVec128 &&
              CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F == kScaleBlock128);
static_assert(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT == kBatchCount &&
              CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET == kBatchStride &&
              CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES == kMaxWorkspace);
static_assert(CUBLASLT_ALGO_CONFIG_ID == kAlgoId && CUBLASLT_ALGO_CONFIG_TILE_ID == kAlgoTile &&
              CUBLASLT_ALGO_CONFIG_SPLITK_NUM == kAlgoSplitK && CUBLASLT_ALGO_CONFIG_STAGES_ID == kAlgoStages &&
              CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME == kAlgoReduction &&
              CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING == kAlgoSwizzle && CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION == kAlgoCustom &&
              CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID == kAlgoInner &&
              CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID == kAlgoCluster);
static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == sizeof(HeuristicResult) &&
              sizeof(cublasLtMatmulAlgo_t) == sizeof(LtAlgorithm));

}  // namespace roofcal::microbench::lt
