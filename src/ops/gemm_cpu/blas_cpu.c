#include "ops/gemm_cpu/blas_cpu.h"

#include "ops/simd_cpu/rows_cpu.h"

#include <cblas.h>

void blas_cpu_gemm_block(const BlasGemm *g, int64_t row, int64_t rows, int64_t column,
                         int64_t columns)
{
    const void *a = rows_cpu_at(g->a, g->dtype, g->transpose_a ? row : row * g->lda);
    const void *b = rows_cpu_at(g->b, g->dtype, g->transpose_b ? column * g->ldb : column);
    void *c = rows_cpu_at(g->c, g->dtype, row * g->ldc + column);
    const enum CBLAS_TRANSPOSE ta = g->transpose_a ? CblasTrans : CblasNoTrans;
    const enum CBLAS_TRANSPOSE tb = g->transpose_b ? CblasTrans : CblasNoTrans;
    const int m = (int)rows, n = (int)columns, k = (int)g->k;
    const int lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;
    if (g->dtype == DT_F64) {
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, g->alpha, a, lda, b, ldb, 0, c, ldc);
    } else {
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, (float)g->alpha, a, lda, b, ldb, 0, c, ldc);
    }
}
