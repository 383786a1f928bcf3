#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/simd_cpu/rows_cpu.h"

#include <cblas.h>

void blas_block(const GemmOperands *g, int64_t row, int64_t rows, int64_t column, int64_t columns)
{
    const DType dtype = g->c.dtype;
    const void *a = rows_cpu_at(g->a.data, dtype, g->transpose_a ? row : row * g->a.ld);
    const void *b = rows_cpu_at(g->b.data, dtype, g->transpose_b ? column * g->b.ld : column);
    void *c = rows_cpu_at(g->c.data, dtype, row * g->c.ld + column);
    const enum CBLAS_TRANSPOSE ta = g->transpose_a ? CblasTrans : CblasNoTrans;
    const enum CBLAS_TRANSPOSE tb = g->transpose_b ? CblasTrans : CblasNoTrans;
    const int m = (int)rows, n = (int)columns, k = (int)gemm_operands_k(g);
    const int lda = (int)g->a.ld, ldb = (int)g->b.ld, ldc = (int)g->c.ld;
    const float beta = g->accumulate ? 1 : 0;
    if (dtype == DT_F64) {
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, (double)g->scale, a, lda, b, ldb, (double)beta,
                    c, ldc);
    } else {
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, g->scale, a, lda, b, ldb, beta, c, ldc);
    }
}
