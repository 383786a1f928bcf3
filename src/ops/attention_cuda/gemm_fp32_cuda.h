/* A stack of matrix products in true fp32 without tensor cores, for the narrow ones of attention (ops/bmm.c). */
#ifndef OPS_ATTENTION_CUDA_GEMM_FP32_CUDA_H
#define OPS_ATTENTION_CUDA_GEMM_FP32_CUDA_H

#include "backend/cuda_backend.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One matrix for every sequence and head. */
typedef struct Fp32Stack {
    float *data;
    int64_t ld; /* elements from row to row */
    int64_t head_step, batch_step;
} Fp32Stack;

/* c[m, n] = scale op(a) op(b), `count` times. Not both operands are transposed. Every row of every matrix is a whole
 * number of aligned 16-byte pieces. */
typedef struct ProductFp32 {
    Fp32Stack a, b, c;
    int m, n, k;
    int heads, count; /* count: sequences times heads */
    bool transpose_a, transpose_b;
    float scale;
} ProductFp32;

/* Once before the first run: kernels are told how much shared memory they may take. */
Status gemm_fp32_cuda_prepare(const Backend *be, const ProductFp32 *p);
Status gemm_fp32_cuda_run(const Backend *be, const ProductFp32 *p);

#ifdef __cplusplus
}
#endif
#endif
