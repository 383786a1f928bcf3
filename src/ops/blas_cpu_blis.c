#include "ops/blas_cpu.h"

#include <blis.h>
#include <cblas.h>
#include <stdio.h>

void blas_cpu_sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                    float beta, float *c, int64_t ldc)
{
    cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans, (f77_int)m, (f77_int)n, (f77_int)k, alpha,
                a, (f77_int)lda, b, (f77_int)ldb, beta, c, (f77_int)ldc);
}

void blas_cpu_set_threads(int threads)
{
    bli_thread_set_num_threads(threads);
}

const char *blas_cpu_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "BLIS %s", bli_info_get_version_str());
    return name;
}
