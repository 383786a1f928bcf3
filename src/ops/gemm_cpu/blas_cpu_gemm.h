/* A product on its way through the system's CBLAS: blas_cpu.c describes it, blas_cpu_NAME.c cuts it into
 * the pieces that suit its library, blas_cpu.c hands each of them to the library. */
#ifndef OPS_GEMM_CPU_BLAS_CPU_GEMM_H
#define OPS_GEMM_CPU_BLAS_CPU_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct BlasProduct {
    bool transpose_a, transpose_b;
    int64_t m, n, k, lda, ldb, ldc;
    double alpha, beta;
    const char *a, *b;
    char *c;
    size_t size; /* of an element: a float or a double */
} BlasProduct;

/* All of it, on as many threads as blas_cpu_set_threads() said. */
void blas_cpu_multiply(const BlasProduct *p);
/* Rows [row, row + rows) and columns [column, column + columns) of the result: one call of the library. */
void blas_cpu_multiply_piece(const BlasProduct *p, int64_t row, int64_t rows, int64_t column,
                             int64_t columns);

#endif
