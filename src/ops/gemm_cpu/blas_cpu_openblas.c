/* OpenBLAS rounds the last rows and columns of each thread's share otherwise than those before
 * them, so that its bits depend on the number of threads; and its pthread build runs one GEMM at a
 * time, whoever calls. So a GEMM is divided into blocks by its shape alone, and threads take them
 * dynamically: the library itself runs on one thread. Its OpenMP build takes that number from
 * OpenMP: thread_team.c and blas_cpu_set_threads() set it for each of our threads. */
#include "backend/thread_team.h"
#include "base/i64.h"
#include "ops/gemm_cpu/blas_cpu.h"

#include <cblas.h>
#include <stdio.h>
#include <string.h>

/* BLOCK: a multiple of MR and NR of every microkernel of OpenBLAS, and large enough that packing
 * takes little of the time. */
enum { BLOCK = 192, MOST_BLOCKS = 8 /* per side */ };

void blas_cpu_set_library_threads(int threads)
{
    openblas_set_num_threads(threads);
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

static void multiply_blocks(const void *data, int64_t first, int64_t last, int thread)
{
    const GemmOperands *g = data;
    const int64_t down = blocks_of(g->c.rows);
    (void)thread;
    for (int64_t i = first; i < last; i++) {
        const int64_t row = start(g->c.rows, i % down), column = start(g->c.cols, i / down);
        blas_block(g, row, start(g->c.rows, i % down + 1) - row, column,
                   start(g->c.cols, i / down + 1) - column);
    }
}

void blas_cpu_gemm_blocks(const GemmOperands *g, int threads)
{
    thread_team_for(threads, blocks_of(g->c.rows) * blocks_of(g->c.cols), 1, multiply_blocks, g);
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
