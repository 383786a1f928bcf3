/* A matrix product through cuBLASLt, described once and run many times. */
#ifndef OPS_CUDA_GEMM_CUDA_H
#define OPS_CUDA_GEMM_CUDA_H

#include "backend/cuda_backend.h"
#include "plan/plan.h"

#include <stdint.h>

/* Row-major c[m, n] = scale op(a) op(b), `batch` times with operands `*_step` elements apart. */
typedef struct ProductShape {
    int64_t m, n, k;
    int64_t lda, ldb, ldc;
    int64_t batch, a_step, b_step, c_step;
    DType a, b, c;
    uint32_t a_align, b_align, c_align; /* bytes that divide every matrix's address */
    bool transpose_a, transpose_b, tf32;
} ProductShape;

typedef struct Product {
    ProductShape shape;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulAlgo_t algorithm;
    void *slot; /* instead of the workspace, where a few bytes are enough */
} Product;

/* The largest power of two up to 256 that divides an address and distances in bytes. */
uint32_t gemm_cuda_align(const void *data, int64_t step_bytes, int64_t stack_bytes);

/* Chooses the algorithm: from memory, from the cache on disk, or by timing it on these operands. */
Status gemm_cuda_prepare(Product *p, Backend *be, const ProductShape *shape, const void *a,
                         const void *b, void *c, void *workspace);
Status gemm_cuda_run(const Product *p, Backend *be, float scale, const void *a, const void *b,
                     void *c, void *workspace);
void gemm_cuda_free(Product *p);

#endif
