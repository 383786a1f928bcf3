/* BLIS's threads wait for each other by spinning, many times in a product: where another program takes
 * a core for a moment, all of them stand still, and a step takes five to ten times as long. So a few
 * threads get pieces of the result, handed out as they come, and wait once, at the end. More threads
 * would get pieces too thin to be fast; BLIS shares the work out itself then, unless they are more than the processors:
 * of those that spin, one that has none keeps all others spinning, and seven threads on two cores take a hundred times as long. */
#include "backend/cpu_threads.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/gemm_cpu/blas_cpu_gemm.h"

#include <blis.h>
#include <omp.h>
#include <stdio.h>

/* GRAIN: a multiple of the rows and columns of every microkernel, so that only the last piece is ragged. */
enum { MOST_THREADS = 4, PIECES = 2 /* a thread */, GRAIN = 48 };

static int n_threads = 1; /* 0: the library shares the work out */

static bool in_pieces(void)
{
    return n_threads > 1 && (n_threads <= MOST_THREADS || n_threads > cpu_threads_processors());
}

/* Whatever BLIS_JC_NT and its like say, which come before the number of threads. */
static void give_library(int threads)
{
    bli_thread_set_ways(-1, -1, -1, -1, -1);
    bli_thread_set_num_threads(threads);
}

void blas_cpu_set_threads(int threads)
{
    n_threads = threads;
    give_library(in_pieces() ? 1 : threads);
}

void blas_cpu_share_by_library(int threads)
{
    if (threads > cpu_threads_processors()) {
        blas_cpu_set_threads(threads);
        return;
    }
    n_threads = 0;
    give_library(threads);
}

int blas_cpu_library_threads(void)
{
    return (int)bli_thread_get_num_threads();
}

static int64_t piece_of(int64_t length)
{
    const int64_t pieces = PIECES * n_threads, grains = (length + GRAIN - 1) / GRAIN;
    return (grains + pieces - 1) / pieces * GRAIN;
}

void blas_cpu_multiply(const BlasProduct *p)
{
    const bool wide = p->n >= p->m;
    const int64_t length = wide ? p->n : p->m, piece = in_pieces() ? piece_of(length) : length;
    if (piece >= length || omp_in_parallel() || p->m == 1 || p->n == 1) {
        blas_cpu_multiply_piece(p, 0, p->m, 0, p->n);
        return;
    }
    /* What is less than a grain goes with the piece before it: a single row or column would be a product
     * with a vector, whose sums BLIS orders otherwise. */
    const int64_t pieces = (length + piece - GRAIN) / piece;
#pragma omp parallel for schedule(dynamic) num_threads(n_threads)
    for (int64_t i = 0; i < pieces; i++) {
        const int64_t at = i * piece, size = i == pieces - 1 ? length - at : piece;
        if (wide) {
            blas_cpu_multiply_piece(p, 0, p->m, at, size);
        } else {
            blas_cpu_multiply_piece(p, at, size, 0, p->n);
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
