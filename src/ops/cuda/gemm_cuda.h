/* GEMMs on a GPU: through cuBLASLt, described once and run many times, and our own in fp32. */
#pragma once

#include "backend/cuda_backend.h"
#include "ops/gpu_support.h"

#include <cublasLt.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cuBLASLt ---- */

/* One operand: `batch` matrices `step` elements apart. */
typedef struct GemmMatrix {
    DType dtype;
    int64_t ld, step;
    uint32_t align; /* bytes that divide every matrix's address */
} GemmMatrix;

/* Row-major c[m, n] = scale op(a) op(b) + bias, or c += that. */
typedef struct GemmShape {
    int64_t m, n, k, batch;
    GemmMatrix a, b, c;
    bool transpose_a, transpose_b, tf32, accumulate;
    const void *bias;    /* [n], of c's dtype; NULL: none */
    uint32_t bias_align; /* bytes that divide its address */
    /* of 8-bit operands, in cuBLASLt's order (ops/fp8_cuda/scaled_matmul_cuda.c); NULL: there are none */
    const float *scale_a, *scale_b;
    GpuSupportScalePair scales;
    bool
        fast; /* sums of 8-bit operands stay in the tensor cores, which have fewer bits than fp32 */
} GemmShape;

typedef struct Gemm {
    GemmShape shape;
    cublasLtHandle_t lt; /* the device's */
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulAlgo_t algorithm;
    void *slot; /* instead of the workspace, where a few bytes are enough */
} Gemm;

/* The largest power of two up to 256 that divides an address and distances in bytes. */
uint32_t gemm_cuda_align(const void *data, int64_t step_bytes, int64_t stack_bytes);

/* Its algorithm comes from memory, from the cache on disk, or from timing the candidates on these
 * operands. After a failure, too, *out is to be freed. */
Status gemm_cuda_open(const OpCall *call, const GemmShape *shape, const void *a, const void *b,
                      void *c, Gemm **out);
Status gemm_cuda_run(const Gemm *p, Backend *be, float scale, const void *a, const void *b, void *c,
                     void *workspace);
void gemm_cuda_free(void *state);

/* ---- fp32 without tensor cores, for the narrow GEMMs of attention
 * (ops/attention_cuda/gemm_fp32_cuda.cu) ---- */

/* One matrix for every sequence and head. */
typedef struct Fp32Stack {
    float *data;
    int64_t ld; /* elements from row to row */
    int64_t head_step, batch_step;
} Fp32Stack;

/* c[m, n] = scale op(a) op(b), `count` times; where heads share a matrix of c, the sum over them. At
 * most one operand is transposed. Every row of every matrix is a whole number of aligned 16-byte
 * vectors. No more than 128 bytes: of larger parameters the compiler makes slower code. */
typedef struct GemmFp32 {
    Fp32Stack a, b, c;
    int m, n, k;
    int heads, count; /* count: sequences times heads */
    bool transpose_a, transpose_b;
    bool b_shared, c_shared; /* `group` heads share a matrix of it */
    float scale;
    int group;
} GemmFp32;

/* With `prepare`, once before the first run, nothing is launched: kernels are told how much shared
 * memory they may take. */
Status gemm_fp32_cuda(const Backend *be, const GemmFp32 *p, bool prepare);

/* ---- output 0 = fp32 sums of its shape without gaps, rounded (ops/attention_cuda/bmm_sum_cuda.cu) ---- */
Status bmm_sum_cuda_round(const OpCall *call, const float *sum);

#ifdef __cplusplus
}
#endif
