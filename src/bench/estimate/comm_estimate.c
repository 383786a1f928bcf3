#include "bench/estimate/comm_estimate.h"

#include "base/array.h"
#include "ops/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* By name: an op is here before or after it is in plan/ops.def. */
static const struct CommOp {
    const char *op;
    Collective collective;
    bool
        last_only; /* of several micro-batches only the last one's runs, and its cost is spread over all */
} comm_ops[] = {
    {"all_reduce", COLLECTIVE_ALL_REDUCE, true},
    {"reduce_scatter", COLLECTIVE_REDUCE_SCATTER, true},
    {"all_gather", COLLECTIVE_ALL_GATHER, false},
    {"broadcast", COLLECTIVE_BROADCAST, false},
};

static const struct CommOp *comm_op_of(const Node *node)
{
    for (size_t i = 0; i < sizeof comm_ops / sizeof *comm_ops; i++) {
        if (strcmp(comm_ops[i].op, plan_op_name(node->op)) == 0) return &comm_ops[i];
    }
    return NULL;
}

static bool communicates(const Node *node)
{
    return plan_op_category(node->op) == CATEGORY_communication;
}

/* ---- one collective ---- */

/* Why a collective of n ranks has no time. */
static Status no_seconds(const CommLinks *links, Collective op, int64_t n)
{
    const int64_t g = links->ranks_per_node;
    if (g > 0 && n % g != 0)
        return FAIL(ST_UNSUPPORTED, "%lld ranks fill no whole nodes of %lld", (long long)n,
                    (long long)g);
    if (g > 0 && n > g && !(links->between.bandwidth > 0))
        return FAIL(ST_UNSUPPORTED,
                    "%lld ranks are on %lld nodes: give --node-link "
                    "BANDWIDTH,LATENCY such as 50GB/s,10us",
                    (long long)n, (long long)(n / g));
    return FAIL(ST_UNSUPPORTED, "links were not measured with %s: give --link BANDWIDTH,LATENCY",
                config_collectives[op]);
}

/* What the op says it sends tells the size of the array, in whatever precision it travels. */
static Status collective_seconds(const CommEstimateInput *in, const Node *node, double *seconds)
{
    const struct CommOp *op = comm_op_of(node);
    const int64_t n = plan_ranks(in->plan);
    *seconds = 0;
    if (n <= 1) return ST_OK;
    if (!op) return FAIL(ST_UNSUPPORTED, "no forecast of %s", plan_op_name(node->op));
    const double runs = op->last_only ? (double)plan_phase_runs(in->plan, node->phase) : 1;
    const double sent = op_cost(in->plan, node).wire * runs;
    const double bytes = sent / comm_link_bus_factor(op->collective, n);
    *seconds = comm_link_seconds(in->links, op->collective, bytes, n);
    if (!isnan(*seconds)) return ST_OK;
    return no_seconds(in->links, op->collective, n);
}

/* ---- two queues ---- */

typedef struct Clock {
    double free[2];  /* when each queue is through with what it has */
    double *done;    /* of each node, the last time it ran; 0: not yet */
    double *seconds; /* of each node */
} Clock;

/* Collectives that have begun or wait run without a gap: one is beside it until all are done. */
static double end_beside(const CommEstimateInput *in, const Clock *clock, double begin, double time)
{
    const double left = fmax(clock->free[QUEUE_COMMUNICATION] - begin, 0);
    if (in->beside >= 1 || time <= left * in->beside) return begin + time / in->beside;
    return begin + left + time - left * in->beside;
}

static void run_node(const CommEstimateInput *in, Clock *clock, int i)
{
    const Queue queue = in->plan->nodes[i].queue;
    const double time = clock->seconds[i];
    double begin = clock->free[queue];
    if (in->waits[i] != PLAN_NONE) begin = fmax(begin, clock->done[in->waits[i]]);
    if (queue == QUEUE_COMMUNICATION) begin = fmax(begin, clock->free[QUEUE_COMPUTE]);
    clock->done[i] =
        queue == QUEUE_COMPUTE && time > 0 ? end_beside(in, clock, begin, time) : begin + time;
    clock->free[queue] = clock->done[i];
}

/* Of micro-batch `run` of `runs`. */
static void run_phase(const CommEstimateInput *in, Clock *clock, Phase phase, bool last,
                      CommEstimate *out)
{
    int begin = 0, end = 0;
    plan_phase_nodes(in->plan, phase, &begin, &end);
    for (int i = begin; i < end; i++) {
        const Node *node = &in->plan->nodes[i];
        const struct CommOp *op = communicates(node) ? comm_op_of(node) : NULL;
        if (op && op->last_only && !last) continue;
        run_node(in, clock, i);
        if (communicates(node))
            out->communication += clock->seconds[i];
        else
            out->compute += clock->seconds[i];
    }
}

static void run_step(const CommEstimateInput *in, Clock *clock, CommEstimate *out)
{
    const int64_t runs = plan_phase_runs(in->plan, PHASE_FORWARD);
    for (int64_t run = 0; run < runs; run++) {
        run_phase(in, clock, PHASE_FORWARD, run + 1 == runs, out);
        run_phase(in, clock, PHASE_BACKWARD, run + 1 == runs, out);
    }
    run_phase(in, clock, PHASE_OPTIMIZER, true, out);
    out->step = fmax(clock->free[QUEUE_COMPUTE], clock->free[QUEUE_COMMUNICATION]);
    out->exposed = fmax(out->step - out->compute, 0);
}

Status comm_estimate_step(const CommEstimateInput *in, CommEstimate *out)
{
    const size_t n = (size_t)in->plan->n_nodes + 1;
    CLEANUP(array_free) double *done = calloc(n, sizeof *done);
    CLEANUP(array_free) double *seconds = calloc(n, sizeof *seconds);
    *out = (CommEstimate){0};
    if (!done || !seconds) return NO_MEMORY("for %d nodes", in->plan->n_nodes);
    for (int i = 0; i < in->plan->n_nodes; i++) {
        const Node *node = &in->plan->nodes[i];
        seconds[i] = in->seconds[i];
        if (communicates(node)) TRY(collective_seconds(in, node, &seconds[i]));
    }
    Clock clock = {.done = done, .seconds = seconds};
    run_step(in, &clock, out);
    return ST_OK;
}

double comm_estimate_compute(const Plan *plan, const double *seconds)
{
    double sum = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        if (node->phase == PHASE_SETUP || communicates(node)) continue;
        sum += (double)plan_phase_runs(plan, node->phase) * seconds[i];
    }
    return sum;
}
