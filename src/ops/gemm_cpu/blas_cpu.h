/* Products through the system's CBLAS, row-major. blas_cpu_NAME.c is the one this build uses. */
#ifndef OPS_GEMM_CPU_BLAS_CPU_H
#define OPS_GEMM_CPU_BLAS_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* c[m, n] = alpha op(a)[m, k] op(b)[k, n] + beta c. Every size must fit 31 bits. Inside a parallel
 * region it runs on the calling thread alone. */
void blas_cpu_sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                    float beta, float *c, int64_t ldc);
/* The same in float64: the reference of a whole step runs on it. */
void blas_cpu_dgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                    double beta, double *c, int64_t ldc);
void blas_cpu_set_threads(int threads);
/* From here on the library shares a product out among the threads itself: its own speed, and bits that
 * depend on the threads. blas_cpu_set_threads() ends it. More threads than processors it never gets: they would wait awake
 * for those that have none. */
void blas_cpu_share_by_library(int threads);
int blas_cpu_library_threads(void); /* that the library itself now shares a product out among */
const char *
blas_cpu_kernels(void); /* the processor it takes this one for, in its own words: "SkylakeX" */
const char *blas_cpu_name(void); /* "BLIS 0.9.0 (skx)": version and kernels */

#endif
