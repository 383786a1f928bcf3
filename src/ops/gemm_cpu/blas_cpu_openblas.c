/* OpenBLAS rounds the last rows and columns of what each of its threads gets otherwise than those before
 * them, so that its bits depend on the number of threads; and its pthread build lets one product run at a
 * time, whoever calls. So a product is cut into tiles by its shape alone, and threads take one as they
 * become free: the library itself runs on one. */
#include "backend/cpu_threads.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/gemm_cpu/blas_cpu_gemm.h"

#include <cblas.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

/* TILE: whole tiles of every microkernel, and wide enough that packing does not count for much. */
enum { TILE = 192, MOST_TILES = 8 /* a side */ };

static int n_threads = 1; /* 0: the library shares the work out */

/* The OpenMP build passes its number on to the regions of the whole program. */
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

int blas_cpu_library_threads(void)
{
    return openblas_get_num_threads();
}

static int64_t tiles(int64_t length)
{
    const int64_t most = (length + TILE - 1) / TILE;
    return most < MOST_TILES ? most : MOST_TILES;
}

/* Where tile i of a side begins: all but the last are a multiple of TILE / 2. */
static int64_t start(int64_t length, int64_t i)
{
    const int64_t grain = TILE / 2, grains = (length + grain - 1) / grain, n = tiles(length);
    return i < n ? grains * i / n * grain : length;
}

static void multiply_tile(const BlasProduct *p, int64_t i)
{
    const int64_t down = tiles(p->m), row = start(p->m, i % down), column = start(p->n, i / down);
    blas_cpu_multiply_piece(p, row, start(p->m, i % down + 1) - row, column,
                            start(p->n, i / down + 1) - column);
}

/* Outside a region of several threads the OpenMP build goes by OpenMP's number, whatever it was told. */
static void multiply_alone(const BlasProduct *p, int64_t count)
{
    const int others = omp_get_max_threads();
    omp_set_num_threads(1);
    for (int64_t i = 0; i < count; i++) multiply_tile(p, i);
    omp_set_num_threads(others);
}

void blas_cpu_multiply(const BlasProduct *p)
{
    const int64_t count = tiles(p->m) * tiles(p->n);
    if (n_threads == 0) {
        blas_cpu_multiply_piece(p, 0, p->m, 0, p->n);
        return;
    }
    if (n_threads == 1 || omp_in_parallel()) {
        multiply_alone(p, count);
        return;
    }
#pragma omp parallel for schedule(dynamic) num_threads(n_threads)
    for (int64_t i = 0; i < count; i++) multiply_tile(p, i);
}

const char *blas_cpu_kernels(void)
{
    return openblas_get_corename();
}

/* openblas_get_config() says "OpenBLAS 0.3.21 NO_LAPACKE ...": keep the version. */
const char *blas_cpu_name(void)
{
    static char name[64];
    const char *config = openblas_get_config();
    size_t version = strcspn(config, " ");
    version += strcspn(config + version + (config[version] != 0), " ") + 1;
    snprintf(name, sizeof name, "%.*s (%s)", (int)version, config, blas_cpu_kernels());
    return name;
}
