#include "ops/gemm_cpu/blas_cpu.h"

#include "ops/gemm_cpu/blas_cpu_gemm.h"

#include <cblas.h>

void blas_cpu_multiply_piece(const BlasProduct *p, int64_t row, int64_t rows, int64_t column,
                             int64_t columns)
{
    const int64_t size = (int64_t)p->size;
    const void *a = p->a + size * (p->transpose_a ? row : row * p->lda);
    const void *b = p->b + size * (p->transpose_b ? column * p->ldb : column);
    void *c = p->c + size * (row * p->ldc + column);
    const enum CBLAS_TRANSPOSE ta = p->transpose_a ? CblasTrans : CblasNoTrans;
    const enum CBLAS_TRANSPOSE tb = p->transpose_b ? CblasTrans : CblasNoTrans;
    const int m = (int)rows, n = (int)columns, k = (int)p->k;
    const int lda = (int)p->lda, ldb = (int)p->ldb, ldc = (int)p->ldc;
    if (p->size == sizeof(double)) {
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, p->alpha, a, lda, b, ldb, p->beta, c, ldc);
    } else {
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, (float)p->alpha, a, lda, b, ldb, (float)p->beta,
                    c, ldc);
    }
}

void blas_cpu_sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                    float beta, float *c, int64_t ldc)
{
    blas_cpu_multiply(&(BlasProduct){transpose_a, transpose_b, m, n, k, lda, ldb, ldc,
                                     (double)alpha, (double)beta, (const char *)a, (const char *)b,
                                     (char *)c, sizeof *c});
}

void blas_cpu_dgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                    double beta, double *c, int64_t ldc)
{
    blas_cpu_multiply(&(BlasProduct){transpose_a, transpose_b, m, n, k, lda, ldb, ldc, alpha, beta,
                                     (const char *)a, (const char *)b, (char *)c, sizeof *c});
}
