#include "ops/blas_cpu.h"

#include <cblas.h>
#include <stdio.h>
#include <string.h>

void blas_cpu_sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                    float beta, float *c, int64_t ldc)
{
    cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, alpha,
                a, (blasint)lda, b, (blasint)ldb, beta, c, (blasint)ldc);
}

void blas_cpu_dgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                    double beta, double *c, int64_t ldc)
{
    cblas_dgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, alpha,
                a, (blasint)lda, b, (blasint)ldb, beta, c, (blasint)ldc);
}

void blas_cpu_set_threads(int threads)
{
    openblas_set_num_threads(threads);
}

/* openblas_get_config() says "OpenBLAS 0.3.21 NO_LAPACKE ... neoversev1 ...": keep the version. */
const char *blas_cpu_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "%s", openblas_get_config());
    char *space = strchr(name, ' ');
    space = space ? strchr(space + 1, ' ') : NULL;
    if (space) *space = '\0';
    return name;
}
