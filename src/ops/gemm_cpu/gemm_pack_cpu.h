/* The operands of a GEMM as micro-panels, and the tasks of packing those that are shared. */
#ifndef OPS_GEMM_CPU_GEMM_PACK_CPU_H
#define OPS_GEMM_CPU_GEMM_PACK_CPU_H

#include "ops/gemm_cpu/gemm_blocking_cpu.h"

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

#endif
