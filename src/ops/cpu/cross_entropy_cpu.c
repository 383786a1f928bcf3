/* Two passes over each row for the loss (its maximum, then the sum of exponentials), one for the
 * gradient; the rows' losses are added in their order, whatever the number of threads. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"
#include "ops/cross_entropy.h"
#include "ops/simd_cpu/vector_math.h"

#include <math.h>

CPU_CLONES static float sum_exp(const float *x, int64_t n, float max)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += vector_math_exp(x[i] - max);
    return sum;
}

static float log_sum_exp(Operand x, int64_t row)
{
    float buffer[ROWS_CHUNK], max = -INFINITY;
    double sum = 0;
    for (int64_t j = 0; j < x.cols; j += ROWS_CHUNK) {
        const int64_t n = i64_min(ROWS_CHUNK, x.cols - j);
        max = rows_cpu_max(operand_cpu_read(x, row, j, n, buffer), n, max);
    }
    for (int64_t j = 0; j < x.cols; j += ROWS_CHUNK) {
        const int64_t n = i64_min(ROWS_CHUNK, x.cols - j);
        sum += (double)sum_exp(operand_cpu_read(x, row, j, n, buffer), n, max);
    }
    return max + (float)log(sum);
}

/* The loss of every row. */
static size_t losses(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    return (size_t)plan_rows(plan_in(plan, node, 0)) * sizeof(float);
}

static void loss_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand logits = element_in(call, 0);
    const int32_t *targets = op_in(call, 1);
    float *lse = op_out(call, 1), *each = call->workspace;
    (void)thread;
    for (int64_t i = first; i < last; i++) {
        const float l = log_sum_exp(logits, i);
        if (lse) lse[i] = l;
        each[i] = l - (float)at(logits, i, targets[i]);
    }
}

static Status run(const OpCall *call)
{
    const int64_t rows = element_in(call, 0).rows;
    const float *each = call->workspace;
    float *loss = op_out(call, 0);
    double sum = 0;
    thread_team_for(call->threads, rows, 8, loss_rows, call);
    for (int64_t i = 0; i < rows; i++) sum += (double)each[i];
    *loss = (float)(sum / (double)cross_entropy_mean_rows(call, op_in_shape(call, 0)));
    return ST_OK;
}

CPU_CLONES static void scaled_exp(float *y, const float *x, int64_t n, float lse, float factor)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) y[i] = factor * vector_math_exp(x[i] - lse);
}

static void grad_row(Operand dlogits, Operand logits, int64_t row, int64_t target, float lse,
                     float factor)
{
    float in[ROWS_CHUNK], out[ROWS_CHUNK];
    for (int64_t j = 0; j < logits.cols; j += ROWS_CHUNK) {
        const int64_t n = i64_min(ROWS_CHUNK, logits.cols - j);
        float *y = operand_cpu_target(dlogits, row, j, out);
        scaled_exp(y, operand_cpu_read(logits, row, j, n, in), n, lse, factor);
        if (target >= j && target < j + n) y[target - j] -= factor;
        operand_cpu_finish(dlogits, row, j, n, y);
    }
}

static void grad_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand dlogits = element_out(call, 0), logits = element_in(call, 1);
    const int32_t *targets = op_in(call, 2);
    const float *lse = op_in(call, 3);
    const double rows = (double)cross_entropy_mean_rows(call, op_in_shape(call, 1));
    const float factor = (float)(at(element_in(call, 0), 0, 0) / rows);
    (void)thread;
    for (int64_t i = first; i < last; i++) {
        grad_row(dlogits, logits, i, targets[i], lse[i], factor);
    }
}

/* dloss alone may be float64. */
static const char *declines_grad(const Plan *plan, const Node *node)
{
    const char *why = rows_cpu_refuse_f64(plan_out(plan, node, 0));
    if (!why) why = rows_cpu_refuse_f64(plan_in(plan, node, 1));
    return why ? why : rows_cpu_refuse_f64(plan_in(plan, node, 3));
}

const OpImpl cross_entropy_cpu[] = {{"cross_entropy_cpu", rows_cpu_declines_f64, losses, run}, {0}};
const OpImpl cross_entropy_grad_cpu[] = {
    {"cross_entropy_grad_cpu", declines_grad, .rows = grad_rows}, {0}};
