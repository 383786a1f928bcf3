/* A row of logits is short: threads take rows. What it chooses does not depend on how exp is computed. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"
#include "ops/experts/experts.h"

#include <math.h>
#include <string.h>

/* p = softmax(logits). */
static void softmax(float *p, const float *logits, int64_t n)
{
    const float most = rows_cpu_max(logits, n, -INFINITY);
    float sum = 0;
    for (int64_t e = 0; e < n; e++) sum += p[e] = expf(logits[e] - most);
    for (int64_t e = 0; e < n; e++) p[e] /= sum;
}

/* Over the chosen alone; p is 0 at the others. */
static void softmax_of_chosen(float *p, const float *logits, int64_t n, const int32_t *choice,
                              int64_t K)
{
    float most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < K; j++) most = fmaxf(most, logits[choice[j]]);
    memset(p, 0, (size_t)n * sizeof *p);
    for (int64_t j = 0; j < K; j++) sum += p[choice[j]] = expf(logits[choice[j]] - most);
    for (int64_t j = 0; j < K; j++) p[choice[j]] /= sum;
}

static void probabilities(const OpCall *call, float *p, const float *logits, int64_t n,
                          const int32_t *choice, int64_t K)
{
    if (call->node->attr.renormalise) {
        softmax_of_chosen(p, logits, n, choice, K);
    } else {
        softmax(p, logits, n);
    }
}

/* Of equal ones the first. */
static void choose(int32_t *choice, int64_t K, const float *logits, int64_t n)
{
    bool chosen[EXPERTS_MOST] = {false};
    for (int64_t j = 0; j < K; j++) {
        int64_t best = -1;
        for (int64_t e = 0; e < n; e++) {
            if (!chosen[e] && (best < 0 || logits[e] > logits[best])) best = e;
        }
        chosen[best] = true;
        choice[j] = (int32_t)best;
    }
}

static void route_rows(const void *data, int64_t begin, int64_t end, int thread)
{
    const OpCall *call = data;
    const Operand logits = element_in(call, 0), weights = element_out(call, 0);
    const int64_t E = logits.cols, K = weights.cols;
    const int32_t *given = op_in(call, 1);
    float wide[EXPERTS_MOST], p[EXPERTS_MOST], counts[EXPERTS_MOST];
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        const float *row = operand_cpu_read(logits, i, 0, E, wide);
        int32_t *choice = (int32_t *)op_out(call, 1) + i * K;
        if (given) {
            memcpy(choice, given + i * K, (size_t)K * sizeof *choice);
        } else {
            choose(choice, K, row, E);
        }
        probabilities(call, p, row, E, choice, K);
        for (int64_t j = 0; j < K; j++) counts[j] = p[choice[j]];
        rows_cpu_store(operand_cpu_at(weights, i, 0), counts, weights.dtype, K);
    }
}

static void grad_rows(const void *data, int64_t begin, int64_t end, int thread)
{
    const OpCall *call = data;
    const Operand dlogits = element_out(call, 0), dweights = element_in(call, 0);
    const Operand logits = element_in(call, 1);
    const int64_t E = logits.cols, K = dweights.cols;
    float wide[EXPERTS_MOST], of_weights[EXPERTS_MOST], p[EXPERTS_MOST], g[EXPERTS_MOST];
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        const int32_t *choice = (const int32_t *)op_in(call, 2) + i * K;
        const float *flow = operand_cpu_read(dweights, i, 0, K, of_weights);
        float dot = 0;
        probabilities(call, p, operand_cpu_read(logits, i, 0, E, wide), E, choice, K);
        memset(g, 0, (size_t)E * sizeof *g);
        for (int64_t j = 0; j < K; j++) g[choice[j]] = flow[j];
        for (int64_t e = 0; e < E; e++) dot += g[e] * p[e];
        for (int64_t e = 0; e < E; e++) g[e] = p[e] * (g[e] - dot);
        rows_cpu_store(operand_cpu_at(dlogits, i, 0), g, dlogits.dtype, E);
    }
}

const OpImpl route_cpu[] = {
    {.name = "route_cpu", .declines = rows_cpu_declines_f64, .rows = route_rows}, {0}};
const OpImpl route_grad_cpu[] = {
    {.name = "route_grad_cpu", .declines = rows_cpu_declines_f64, .rows = grad_rows}, {0}};
