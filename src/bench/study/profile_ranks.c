#include "bench/study/profile_ranks.h"

#include "base/array.h"
#include "base/i64.h"
#include "base/json_text.h"
#include "bench/cell/cell_ranks.h"
#include "bench/study/profile_record.h"
#include "ops/op.h"

#include <stdlib.h>

static const double ns = 1e9;

/* ---- collectives ---- */

/* Of the whole array, which one of them has where a shard is the other. */
static int64_t array_bytes(const Plan *plan, const Node *node)
{
    return i64_max((int64_t)plan_bytes(plan_out(plan, node, 0)),
                   (int64_t)plan_bytes(plan_in(plan, node, 0)));
}

/* "optimizer adamw: adamw"; null where no node waited. */
static json_t *waiter_text(const Plan *plan, int waiter)
{
    if (waiter == PLAN_NONE) return json_null();
    const Node *node = &plan->nodes[waiter];
    return json_sprintf("%s %s %s", plan_phase_name(node->phase), node->scope,
                        plan_op_name(node->op));
}

/* What an op sends each time it runs. Its cost is that of each micro-batch, of which the last one's alone
 * runs, but for a gather. */
static double sent(const Plan *plan, const Node *node)
{
    const int64_t share = node->op == OP_all_gather ? 1 : plan_phase_runs(plan, node->phase);
    return op_cost(plan, node).wire * (double)share;
}

static json_t *collective(const Plan *plan, const CommNode *at)
{
    const Node *node = &plan->nodes[at->node];
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:f, s:o, s:f, s:f, s:o}", "node",
                     at->node, "op", plan_op_name(node->op), "name", plan_out(plan, node, 0)->name,
                     "dtype", plan_dtype_name(plan_out(plan, node, 0)->dtype), "scope", node->scope,
                     "phase", plan_phase_name(node->phase), "queue",
                     node->queue == QUEUE_COMMUNICATION ? "communication" : "compute", "bytes",
                     (json_int_t)array_bytes(plan, node), "wire", sent(plan, node), "time",
                     profile_record_stats(&at->time, ns), "hidden", at->hidden * ns, "waited",
                     at->waited * ns, "waited_by", waiter_text(plan, at->waiter));
}

static json_t *collectives(const Profiler *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->comm.n; i++)
        json_array_append_new(list, collective(p->binding->plan, &p->comm.nodes[i]));
    return list;
}

/* ---- ranks ---- */

enum { STEP, COMMUNICATION, HIDDEN, WAITED, FIGURES };

static Status gather(Comm *comm, const Profiler *p, double *of_ranks)
{
    const double steps = (double)i64_max(p->steps, 1);
    const double own[FIGURES] = {running_stats_quantile(&p->step, 0.5), p->comm.seconds / steps,
                                 p->comm.hidden / steps, p->comm.waited / steps};
    for (int f = 0; f < FIGURES; f++)
        TRY(cell_ranks_gather(comm, own[f], of_ranks + (ptrdiff_t)f * comm_ranks(comm)));
    return ST_OK;
}

static json_t *ranks(const double *of_ranks, int n)
{
    json_t *list = json_array();
    for (int r = 0; r < n; r++) {
        json_array_append_new(list, json_pack("{s:i, s:f, s:f, s:f, s:f}", "rank", r, "step",
                                              of_ranks[STEP * n + r] * ns, "communication",
                                              of_ranks[COMMUNICATION * n + r] * ns, "hidden",
                                              of_ranks[HIDDEN * n + r] * ns, "waited",
                                              of_ranks[WAITED * n + r] * ns));
    }
    return list;
}

Status profile_ranks_put(json_t *profile, const Profiler *p, Comm *comm)
{
    const int n = comm_ranks(comm);
    CLEANUP(array_free) double *of_ranks = malloc(FIGURES * (size_t)n * sizeof *of_ranks);
    if (!of_ranks) return NO_MEMORY("for figures of %d ranks", n);
    TRY(gather(comm, p, of_ranks));
    CLEANUP(json_text_free)
    json_t *more = json_pack("{s:s, s:o, s:o}", "path", comm_path(comm), "ranks",
                             ranks(of_ranks, n), "collectives", collectives(p));
    if (!more || json_object_update(profile, more) != 0)
        return NO_MEMORY("for the profile as JSON");
    return ST_OK;
}
