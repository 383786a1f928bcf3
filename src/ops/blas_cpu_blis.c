/* BLIS's threads wait for each other by spinning, many times in a product: where another program takes
 * a core for a moment, all of them stand still, and a step takes five to ten times as long. So a few
 * threads get pieces of the result, handed out as they come, and wait once, at the end. More threads
 * would get pieces too thin to be fast; BLIS shares the work out itself then. */
#include "ops/blas_cpu.h"

#include <blis.h>
#include <cblas.h>
#include <omp.h>
#include <stdio.h>

/* GRAIN: a multiple of the rows and columns of every microkernel, so that only the last piece is ragged. */
enum { MOST_THREADS = 4, PIECES = 2 /* a thread */, GRAIN = 48 };

static int n_threads = 1;

static bool in_pieces(void)
{
    return n_threads > 1 && n_threads <= MOST_THREADS;
}

void blas_cpu_set_threads(int threads)
{
    n_threads = threads;
    bli_thread_set_num_threads(in_pieces() ? 1 : threads);
}

typedef struct Product {
    bool transpose_a, transpose_b;
    int64_t m, n, k, lda, ldb, ldc;
    double alpha, beta;
    const char *a, *b;
    char *c;
    size_t size; /* of an element: a float or a double */
} Product;

/* Rows [row, row + rows) and columns [column, column + columns) of the result. */
static void multiply(const Product *p, int64_t row, int64_t rows, int64_t column, int64_t columns)
{
    const int64_t size = (int64_t)p->size;
    const void *a = p->a + size * (p->transpose_a ? row : row * p->lda);
    const void *b = p->b + size * (p->transpose_b ? column * p->ldb : column);
    void *c = p->c + size * (row * p->ldc + column);
    const enum CBLAS_TRANSPOSE ta = p->transpose_a ? CblasTrans : CblasNoTrans;
    const enum CBLAS_TRANSPOSE tb = p->transpose_b ? CblasTrans : CblasNoTrans;
    if (p->size == sizeof(double)) {
        cblas_dgemm(CblasRowMajor, ta, tb, (f77_int)rows, (f77_int)columns, (f77_int)p->k, p->alpha,
                    a, (f77_int)p->lda, b, (f77_int)p->ldb, p->beta, c, (f77_int)p->ldc);
    } else {
        cblas_sgemm(CblasRowMajor, ta, tb, (f77_int)rows, (f77_int)columns, (f77_int)p->k,
                    (float)p->alpha, a, (f77_int)p->lda, b, (f77_int)p->ldb, (float)p->beta, c,
                    (f77_int)p->ldc);
    }
}

static int64_t piece_of(int64_t length)
{
    const int64_t pieces = PIECES * n_threads, grains = (length + GRAIN - 1) / GRAIN;
    return (grains + pieces - 1) / pieces * GRAIN;
}

static void multiply_all(const Product *p)
{
    const bool wide = p->n >= p->m;
    const int64_t length = wide ? p->n : p->m, piece = piece_of(length);
    if (!in_pieces() || omp_in_parallel() || piece >= length || p->m == 1 || p->n == 1) {
        multiply(p, 0, p->m, 0, p->n);
        return;
    }
    /* What is less than a grain goes with the piece before it: a single row or column would be a product
     * with a vector, whose sums BLIS orders otherwise. */
    const int64_t pieces = (length + piece - GRAIN) / piece;
#pragma omp parallel for schedule(dynamic) num_threads(n_threads)
    for (int64_t i = 0; i < pieces; i++) {
        const int64_t at = i * piece, size = i == pieces - 1 ? length - at : piece;
        if (wide) {
            multiply(p, 0, p->m, at, size);
        } else {
            multiply(p, at, size, 0, p->n);
        }
    }
}

void blas_cpu_sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                    float beta, float *c, int64_t ldc)
{
    multiply_all(&(Product){transpose_a, transpose_b, m, n, k, lda, ldb, ldc, (double)alpha,
                            (double)beta, (const char *)a, (const char *)b, (char *)c, sizeof *c});
}

void blas_cpu_dgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                    double beta, double *c, int64_t ldc)
{
    multiply_all(&(Product){transpose_a, transpose_b, m, n, k, lda, ldb, ldc, alpha, beta,
                            (const char *)a, (const char *)b, (char *)c, sizeof *c});
}

const char *blas_cpu_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "BLIS %s", bli_info_get_version_str());
    return name;
}
