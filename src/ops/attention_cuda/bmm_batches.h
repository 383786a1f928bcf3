/* A bmm as strided batches of cuBLASLt.
 *
 * Heads side by side and sequences one below the other have no common distance: a batch has heads of
 * one sequence, or all sequences where there is a single head. Where `group` heads of q share one of
 * k and v, a batch has one head of each group, and a sequence takes `group` batches. */
#pragma once

#include "ops/head_matrix.h"

typedef struct BmmBatches {
    int64_t count; /* of batches */
    int64_t size;  /* matrices in each */
    int64_t group; /* batches of a sequence */
    bool sums;     /* c has the heads of k and v: the batches of a sequence add up */
} BmmBatches;

static inline BmmBatches bmm_batches(const HeadMatrix *c, const HeadMatrix *a, const HeadMatrix *b)
{
    int64_t group = c->group;
    if (a->group > group) group = a->group;
    if (b->group > group) group = b->group;
    if (c->heads == 1) return (BmmBatches){.count = 1, .size = c->count, .group = 1};
    return (BmmBatches){.count = c->count / c->heads * group,
                        .size = c->heads / group,
                        .group = group,
                        .sums = c->group > 1};
}

/* Elements from matrix to matrix of a batch. */
static inline int64_t bmm_batches_step(const BmmBatches *s, const HeadMatrix *m)
{
    if (m->heads == 1) return m->batch_step;
    return m->group > 1 ? m->head_step : s->group * m->head_step;
}

/* Element index of the first matrix of batch `i`. */
static inline int64_t bmm_batches_start(const BmmBatches *s, const HeadMatrix *m, int64_t i)
{
    const int64_t head = m->group > 1 ? 0 : i % s->group;
    return i / s->group * m->batch_step + head * m->head_step;
}

/* Whether batch `i` is added to what one before it has left in c. */
static inline bool bmm_batches_adds(const BmmBatches *s, int64_t i)
{
    return s->sums && i % s->group > 0;
}
