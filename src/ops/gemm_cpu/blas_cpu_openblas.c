/* OpenBLAS rounds the last rows and columns of each thread's share otherwise than those before
 * them, so that its bits depend on the number of threads; and its pthread build runs one GEMM at a
 * time, whoever calls. So a GEMM is divided into blocks by its shape alone, and threads take them
 * dynamically: the library itself runs on one thread. */
#include "backend/cpu_threads.h"
#include "base/i64.h"
#include "ops/gemm_cpu/blas_cpu.h"

#include <cblas.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

/* BLOCK: a multiple of MR and NR of every microkernel of OpenBLAS, and large enough that packing
 * takes little of the time. */
enum { BLOCK = 192, MOST_BLOCKS = 8 /* per side */ };

static int n_threads = 1; /* 0: the library divides the work */

/* The OpenMP build sets the number of threads of the whole program. */
void blas_cpu_set_threads(int threads)
{
    const int others = omp_get_max_threads();
    n_threads = threads;
    openblas_set_num_threads(1);
    omp_set_num_threads(others);
}

void blas_cpu_share_by_library(int threads)
{
    if (threads > cpu_threads_processors()) {
        blas_cpu_set_threads(threads);
        return;
    }
    n_threads = 0;
    openblas_set_num_threads(threads);
    omp_set_num_threads(threads);
}

static int64_t blocks_of(int64_t length)
{
    return i64_min(i64_ceil_div(length, BLOCK), MOST_BLOCKS);
}

/* Where block i of a side begins: at a multiple of BLOCK / 2. */
static int64_t start(int64_t length, int64_t i)
{
    const int64_t unit = BLOCK / 2, n = blocks_of(length);
    return i < n ? i64_ceil_div(length, unit) * i / n * unit : length;
}

static void multiply_block(const GemmOperands *g, int64_t i)
{
    const int64_t down = blocks_of(g->c.rows), row = start(g->c.rows, i % down),
                  column = start(g->c.cols, i / down);
    blas_cpu_gemm_block(g, row, start(g->c.rows, i % down + 1) - row, column,
                        start(g->c.cols, i / down + 1) - column);
}

/* Outside a region of several threads the OpenMP build uses OpenMP's number of threads, whatever it
 * was told. */
static void multiply_alone(const GemmOperands *g, int64_t count)
{
    const int others = omp_get_max_threads();
    omp_set_num_threads(1);
    for (int64_t i = 0; i < count; i++) multiply_block(g, i);
    omp_set_num_threads(others);
}

void blas_cpu_gemm(const GemmOperands *g)
{
    const int64_t count = blocks_of(g->c.rows) * blocks_of(g->c.cols);
    if (n_threads == 0) {
        blas_cpu_gemm_block(g, 0, g->c.rows, 0, g->c.cols);
        return;
    }
    if (n_threads == 1 || omp_in_parallel()) {
        multiply_alone(g, count);
        return;
    }
#pragma omp parallel for schedule(dynamic) num_threads(n_threads)
    for (int64_t i = 0; i < count; i++) multiply_block(g, i);
}

const char *blas_cpu_kernels(void)
{
    return openblas_get_corename();
}

/* openblas_get_config() says "OpenBLAS 0.3.21 NO_LAPACKE ...": the version is kept. */
const char *blas_cpu_name(void)
{
    static char name[64];
    const char *config = openblas_get_config();
    size_t version = strcspn(config, " ");
    version += strcspn(config + version + (config[version] != 0), " ") + 1;
    snprintf(name, sizeof name, "%.*s (%s)", (int)version, config, blas_cpu_kernels());
    return name;
}
