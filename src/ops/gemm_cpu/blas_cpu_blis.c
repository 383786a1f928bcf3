/* BLIS's threads wait for each other by spinning, many times in a GEMM: where another program takes
 * a core for a moment, all of them stand still, and a step takes five to ten times as long. So a
 * few threads take blocks of the result dynamically and wait once, at the end. With more threads
 * the blocks would be too thin to be fast, and BLIS divides the work itself, unless there are more
 * threads than cores: a spinning thread without a core keeps all others spinning, and seven threads
 * on two cores take a hundred times as long. */
#include "backend/cpu_threads.h"
#include "base/i64.h"
#include "ops/gemm_cpu/blas_cpu.h"

#include <blis.h>
#include <omp.h>
#include <stdio.h>

/* UNIT: a multiple of MR and NR of every microkernel of BLIS, so that only the last block is ragged. */
enum { MOST_THREADS = 4, BLOCKS = 2 /* per thread */, UNIT = 48 };

static int n_threads = 1; /* 0: the library divides the work */

static bool in_blocks(void)
{
    return n_threads > 1 && (n_threads <= MOST_THREADS || n_threads > cpu_threads_processors());
}

/* BLIS_JC_NT and its like would come before the number of threads: they are unset. */
static void set_library_threads(int threads)
{
    bli_thread_set_ways(-1, -1, -1, -1, -1);
    bli_thread_set_num_threads(threads);
}

void blas_cpu_set_threads(int threads)
{
    n_threads = threads;
    set_library_threads(in_blocks() ? 1 : threads);
}

void blas_cpu_share_by_library(int threads)
{
    if (threads > cpu_threads_processors()) {
        blas_cpu_set_threads(threads);
        return;
    }
    n_threads = 0;
    set_library_threads(threads);
}

static int64_t block_length(int64_t length)
{
    return i64_ceil_div(i64_ceil_div(length, UNIT), BLOCKS * n_threads) * UNIT;
}

void blas_cpu_gemm(const GemmOperands *g)
{
    const bool wide = g->c.cols >= g->c.rows;
    const int64_t length = wide ? g->c.cols : g->c.rows,
                  block = in_blocks() ? block_length(length) : length;
    if (block >= length || omp_in_parallel() || g->c.rows == 1 || g->c.cols == 1) {
        blas_cpu_gemm_block(g, 0, g->c.rows, 0, g->c.cols);
        return;
    }
    /* A remainder of less than a unit is part of the last block: a single row or column would be a
     * product of a matrix and a vector, whose sums BLIS orders otherwise. */
    const int64_t blocks = (length + block - UNIT) / block;
#pragma omp parallel for schedule(dynamic) num_threads(n_threads)
    for (int64_t i = 0; i < blocks; i++) {
        const int64_t at = i * block, size = i == blocks - 1 ? length - at : block;
        if (wide) {
            blas_cpu_gemm_block(g, 0, g->c.rows, at, size);
        } else {
            blas_cpu_gemm_block(g, at, size, 0, g->c.cols);
        }
    }
}

const char *blas_cpu_kernels(void)
{
    return bli_arch_string(bli_arch_query_id());
}

const char *blas_cpu_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "BLIS %s (%s)", bli_info_get_version_str(), blas_cpu_kernels());
    return name;
}
