/* BLIS's threads wait for each other by spinning, many times in a GEMM: where another program takes
 * a core for a moment, all of them stand still, and a step takes five to ten times as long. So our
 * threads take blocks of the result dynamically and wait once, at the end; each calls BLIS with one
 * thread. */
#include "backend/thread_team.h"
#include "base/i64.h"
#include "ops/gemm_cpu/blas_cpu.h"

#include <blis.h>
#include <stdio.h>

/* UNIT: a multiple of MR and NR of every microkernel of BLIS, so that only the last block is ragged.
 * Up to FEW threads have blocks of the longer side alone; with more threads these would be too thin
 * to be fast, and the shorter side is divided, too. */
enum { UNIT = 48, BLOCKS = 2 /* per thread */, FEW = 4 };

/* BLIS_JC_NT and its like would come before the number of threads: they are unset. */
void blas_cpu_set_library_threads(int threads)
{
    bli_thread_set_ways(-1, -1, -1, -1, -1);
    bli_thread_set_num_threads(threads);
}

/* One side of the result: blocks of `size`. A remainder of less than a unit is part of the last
 * block: a single row or column would be a product of a matrix and a vector, whose sums BLIS orders
 * otherwise. */
typedef struct Side {
    int64_t length, size, count;
} Side;

static Side divided(int64_t length, int64_t parts)
{
    const int64_t size = i64_ceil_div(i64_ceil_div(length, UNIT), parts) * UNIT;
    if (size >= length) return (Side){length, length, 1};
    return (Side){length, size, (length + size - UNIT) / size};
}

static int64_t size_of(const Side *s, int64_t i)
{
    return i == s->count - 1 ? s->length - i * s->size : s->size;
}

typedef struct Blocks {
    const GemmOperands *g;
    Side rows, columns;
} Blocks;

static void multiply_blocks(const void *data, int64_t first, int64_t last, int thread)
{
    static _Thread_local bool alone; /* since BLIS 1.0 every calling thread has its own number */
    const Blocks *b = data;
    (void)thread;
    if (!alone) blas_cpu_set_library_threads(1);
    alone = true;
    for (int64_t i = first; i < last; i++) {
        const int64_t y = i % b->rows.count, x = i / b->rows.count;
        blas_block(b->g, y * b->rows.size, size_of(&b->rows, y), x * b->columns.size,
                   size_of(&b->columns, x));
    }
}

void blas_cpu_gemm_blocks(const GemmOperands *g, int threads)
{
    const bool whole = threads == 1 || g->c.rows == 1 || g->c.cols == 1;
    const int64_t longer = whole ? 1 : BLOCKS * i64_min(threads, FEW);
    const int64_t shorter = whole ? 1 : i64_ceil_div(threads, FEW);
    const bool wide = g->c.cols >= g->c.rows;
    const Blocks b = {g, divided(g->c.rows, wide ? shorter : longer),
                      divided(g->c.cols, wide ? longer : shorter)};
    thread_team_for(threads, b.rows.count * b.columns.count, 1, multiply_blocks, &b);
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
