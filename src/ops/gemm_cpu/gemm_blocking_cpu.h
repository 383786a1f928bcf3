/* How a product is cut into what threads take. For packed*_cpu.c and their test. */
#ifndef OPS_GEMM_CPU_GEMM_BLOCKING_CPU_H
#define OPS_GEMM_CPU_GEMM_BLOCKING_CPU_H

#include "ops/gemm_cpu/gemm_cpu.h"

/* Blocks: both operands are packed beforehand. The rows of a that a block reads along a piece of k stay in the second-level
 * cache (those of Microkernel's `block`: 0.4 MiB of 1 MiB), beside its floats; panels of b pass through it one after the
 * other, each of which stays in the first level while all rows are multiplied with it.
 *
 * Strips: the side with fewer lines is packed beforehand, and what a thread multiplies of the other one it
 * packs itself, a piece of k at a time, so that those panels never leave its second-level cache. Or it packs both
 * sides of its block, and nothing is packed beforehand. */
typedef enum Strips {
    STRIPS_NONE,
    STRIPS_OF_A,
    STRIPS_OF_B,
    STRIPS_OF_BOTH = STRIPS_OF_A | STRIPS_OF_B
} Strips;

typedef struct Cut {
    Strips strips;
    int64_t down, across;  /* how many blocks; a strip and what it is multiplied with is one */
    int64_t row, column;   /* they begin at multiples of these */
    int64_t rows, columns; /* none is larger */
    int64_t narrow;        /* the last strips, of one tile each, so that threads end together */
    int64_t cost;          /* the time of the slowest thread, for comparisons */
} Cut;

Cut gemm_blocking(const GemmPlan *p, int threads);

typedef struct Place {
    int64_t row, rows, column, columns;
} Place;

/* Of block i of down * across; neighbours share their columns of b, or the strip. */
Place gemm_blocking_place(const GemmPlan *p, const Cut *cut, int64_t i);

/* Beside strips, blocks i, i + n, i + 2 n ... read the same part of what is packed beforehand, and are a queue. Threads take
 * those of a part of their own first: the fewer caches have read a line, the sooner the next product can write it again. */
enum { PACKED_MOST_QUEUES = 16 };

typedef struct CutQueues {
    int64_t n, each;                  /* how many, and blocks of one */
    int64_t next[PACKED_MOST_QUEUES]; /* block of each */
} CutQueues;

CutQueues gemm_blocking_queues(const Cut *cut);

/* The block that a thread takes now, -1 when there are no more. `turn` is the thread's own, 0 at first. */
int64_t gemm_blocking_next(CutQueues *queues, int64_t thread, int64_t *turn);

static inline int64_t gemm_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t gemm_pieces(int64_t length, int64_t piece)
{
    return (length + piece - 1) / piece;
}

static inline int64_t gemm_round_up(int64_t length, int64_t to)
{
    return gemm_pieces(length, to) * to;
}

#endif
