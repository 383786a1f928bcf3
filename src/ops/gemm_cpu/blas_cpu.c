#include "ops/gemm_cpu/blas_cpu.h"

#include "backend/cpu_threads.h"
#include "backend/openmp_library.h"

static int n_threads = 1; /* 0: the library divides the work */

void blas_cpu_set_threads(int threads)
{
    const bool library_has_threads = n_threads == 0;
    n_threads = threads;
    blas_cpu_set_library_threads(1);
    openmp_library_set_threads(1);
    if (library_has_threads) openmp_library_end_threads();
}

void blas_cpu_share_by_library(int threads)
{
    if (threads > cpu_threads_processors()) {
        blas_cpu_set_threads(threads);
        return;
    }
    n_threads = 0;
    blas_cpu_set_library_threads(threads);
    openmp_library_set_threads(threads);
}

void blas_cpu_gemm(const GemmOperands *g)
{
    if (n_threads == 0) {
        blas_block(g, 0, g->c.rows, 0, g->c.cols);
    } else {
        blas_cpu_gemm_blocks(g, n_threads);
    }
}
