/* The parts of our GEMM: how it is blocked, packing, the macro-kernel. The names are those of BLIS
 * (Van Zee and van de Geijn, "BLIS: A Framework for Rapidly Instantiating BLAS Functionality"),
 * whose five loops around the micro-kernel are these here:
 *
 *   5th  jc  NC columns of c  \  blocks of at most MC x NC of c: one list, from which threads
 *   3rd  ic  MC rows of c     /  take (gemm_blocking_next()); both loops are outside the 4th
 *   4th  pc  KC of k             gemm_macrokernel(), a block over all of k
 *   2nd  jr  NR columns          add_kc() in gemm_macrokernel_cpu.c: micro-panels of b
 *   1st  ir  MR rows             the same: micro-panels of a
 *            micro-kernel        Microkernel.multiply: a tile of MR x NR over KC
 *
 * Shared panels: all threads pack an operand together, all of it, before the first block. Where
 * both operands are shared, MC rows of a along KC stay in the second-level cache (0.4 MiB of 1 MiB)
 * beside the sums of the block. Micro-panels of b pass through it one after the other, each of
 * which stays in the first level while all rows are multiplied with it.
 *
 * Private panels: the thread that takes a block packs its lines, a KC at a time, so that they never
 * leave the thread's second-level cache. Either the longer side is private and the other one is
 * shared, or both are private. */
#pragma once

#include "base/i64.h"
#include "ops/gemm_cpu/gemm_cpu.h"

/* ---- gemm_blocking_cpu.c ---- */

typedef enum PrivatePanels {
    PRIVATE_NONE,
    PRIVATE_A,
    PRIVATE_B,
    PRIVATE_BOTH = PRIVATE_A | PRIVATE_B
} PrivatePanels;

typedef struct GemmBlocking {
    PrivatePanels private_panels;
    int64_t m_blocks, n_blocks; /* how many down and across */
    int64_t mc, nc;             /* no block is larger */
    int64_t
        narrow; /* the last blocks of the private side have one micro-panel: threads end together */
    int64_t cost;         /* the time of the slowest thread, for comparisons */
    int64_t number_bytes; /* of a number in a micro-panel */
    int64_t k;            /* padded to whole KR */
    int64_t kc;
    /* Rounding errors of a sum in fp32 grow with its length: a long sum adds up sums over this many. */
    int64_t partial_k;
} GemmBlocking;

GemmBlocking gemm_blocking(const GemmPlan *p, int threads);

typedef struct GemmBlock {
    int64_t row, rows, column, columns;
} GemmBlock;

/* Block i of m_blocks * n_blocks; neighbours share their columns of b, or their private lines. */
GemmBlock gemm_blocking_block(const GemmPlan *p, const GemmBlocking *blocking, int64_t i);

/* Where one side is private, blocks i, i + n, i + 2 n ... read the same part of the shared side,
 * and are a queue. Threads start with queues of their own: the fewer caches have read a line, the
 * sooner the next GEMM can write it again. */
enum { GEMM_MOST_QUEUES = 16 };

typedef struct GemmQueues {
    int64_t n, each;                /* how many, and blocks of one */
    int64_t next[GEMM_MOST_QUEUES]; /* block of each */
} GemmQueues;

GemmQueues gemm_blocking_queues(const GemmBlocking *blocking);

/* The block that a thread takes next, -1 when there are no more. `turn` is the thread's own, 0 at first. */
int64_t gemm_blocking_next(GemmQueues *queues, int64_t thread, int64_t *turn);

/* ---- gemm_pack_cpu.c: operands as micro-panels ---- */

typedef struct GemmOperand {
    const PackSource *source;
    PackPanel *pack;
    char *panels;
    int64_t lines;   /* rows of op(a), or columns of op(b) */
    int panel;       /* lines of a micro-panel: MR or NR */
    bool is_private; /* `panels` hold the lines of one block along one KC */
    int64_t first;   /* line of that block */
} GemmOperand;

typedef struct Gemm {
    const GemmPlan *plan;
    GemmBlocking blocking;
    GemmOperand a, b;
} Gemm;

/* All micro-panels along one KC, then those along the next: what a block reads at a time lies
 * together, whatever k is. */
static inline char *gemm_pack_at(const GemmBlocking *b, const GemmOperand *x, int64_t line,
                                 int64_t k)
{
    const int64_t start = k / b->kc * b->kc, kc = i64_min(b->kc, b->k - start);
    const int64_t before = x->is_private ? 0 : start * i64_round_up(x->lines, x->panel);
    return x->panels + (before + (line - x->first) * kc + (k - start) * x->panel) * b->number_bytes;
}

/* Lines [first, end) and their numbers [k, end_k). */
void gemm_pack(const Gemm *g, const GemmOperand *x, int64_t first, int64_t end, int64_t k,
               int64_t end_k);

/* Tasks of packing shared operands: `lines` lines and `k` numbers of each. */
typedef struct GemmPackTasks {
    int64_t lines, k;
    int64_t of_a, n; /* the first ones are of a */
} GemmPackTasks;

GemmPackTasks gemm_pack_tasks(const Gemm *g, int threads);
void gemm_pack_task(const Gemm *g, const GemmPackTasks *tasks, int64_t i);

/* ---- gemm_macrokernel_cpu.c: a block of c over all of k ---- */

/* Of the sums of a block: a thread's own. */
int64_t gemm_macrokernel_bytes(const GemmPlan *p, const GemmBlocking *b);

/* Computes block i; `g` is the thread's own, with its private panels. */
void gemm_macrokernel(Gemm *g, int64_t i, float *sums);
