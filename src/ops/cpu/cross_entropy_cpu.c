/* Two passes over each row for the loss (its maximum, then the sum of powers), one for the
 * gradient; the rows' losses are added in their order, whatever the number of threads. */
#include "ops/cpu/impls_cpu.h"
#include "ops/element.h"
#include "ops/simd_cpu/rows_cpu.h"
#include "ops/simd_cpu/vector_math.h"

#include <math.h>

CPU_CLONES static float largest_of(const float *x, int64_t n, float max)
{
    return vector_math_max(x, n, max);
}

CPU_CLONES static float sum_powers(const float *x, int64_t n, float max)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += vector_math_exp(x[i] - max);
    return sum;
}

static float log_sum_exp(const void *row, DType dtype, int64_t n)
{
    float buffer[ROWS_CHUNK], max = -INFINITY;
    double sum = 0;
    for (int64_t j = 0; j < n; j += ROWS_CHUNK) {
        const int64_t m = n - j < ROWS_CHUNK ? n - j : ROWS_CHUNK;
        max = largest_of(rows_cpu_read(rows_cpu_at(row, dtype, j), dtype, m, buffer), m, max);
    }
    for (int64_t j = 0; j < n; j += ROWS_CHUNK) {
        const int64_t m = n - j < ROWS_CHUNK ? n - j : ROWS_CHUNK;
        const float *x = rows_cpu_read(rows_cpu_at(row, dtype, j), dtype, m, buffer);
        sum += (double)sum_powers(x, m, max);
    }
    return max + (float)log(sum);
}

/* The loss of every row. */
static size_t losses(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    return (size_t)plan_rows(plan_in(plan, node, 0)) * sizeof(float);
}

static Status run(const OpCall *call)
{
    const Operand logits = element_in(call, 0);
    const int32_t *targets = op_in(call, 1);
    float *loss = op_out(call, 0), *lse = op_out(call, 1), *each = call->workspace;
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < logits.rows; i++) {
        const void *row = rows_cpu_at(logits.data, logits.dtype, i * logits.cols);
        const float l = log_sum_exp(row, logits.dtype, logits.cols);
        if (lse) lse[i] = l;
        each[i] = l - (float)at(logits, i, targets[i]);
    }
    double sum = 0;
    for (int64_t i = 0; i < logits.rows; i++) sum += (double)each[i];
    *loss = (float)(sum / (double)logits.rows);
    return ST_OK;
}

CPU_CLONES static void scaled_powers(float *y, const float *x, int64_t n, float lse, float factor)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) y[i] = factor * vector_math_exp(x[i] - lse);
}

static void grad_row(Operand dlogits, Operand logits, int64_t row, int64_t target, float lse,
                     float factor)
{
    float in[ROWS_CHUNK], out[ROWS_CHUNK];
    for (int64_t j = 0; j < logits.cols; j += ROWS_CHUNK) {
        const int64_t m = logits.cols - j < ROWS_CHUNK ? logits.cols - j : ROWS_CHUNK;
        const void *from = rows_cpu_at(logits.data, logits.dtype, row * logits.cols + j);
        void *to = rows_cpu_at(dlogits.data, dlogits.dtype, row * logits.cols + j);
        float *y = rows_cpu_target(to, dlogits.dtype, out);
        scaled_powers(y, rows_cpu_read(from, logits.dtype, m, in), m, lse, factor);
        if (target >= j && target < j + m) y[target - j] -= factor;
        rows_cpu_finish(to, dlogits.dtype, m, y);
    }
}

static Status run_grad(const OpCall *call)
{
    const Operand dlogits = element_out(call, 0), logits = element_in(call, 1);
    const int32_t *targets = op_in(call, 2);
    const float *lse = op_in(call, 3);
    const float factor = (float)(at(element_in(call, 0), 0, 0) / (double)logits.rows);
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < logits.rows; i++) {
        grad_row(dlogits, logits, i, targets[i], lse[i], factor);
    }
    return ST_OK;
}

static bool is_f64(const Tensor *tensor)
{
    return tensor && tensor->dtype == DT_F64;
}

/* dloss alone may be float64. */
static const char *declines_grad(const Plan *plan, const Node *node)
{
    const bool wide = is_f64(plan_out(plan, node, 0)) || is_f64(plan_in(plan, node, 1)) ||
                      is_f64(plan_in(plan, node, 3));
    return wide ? "float64 has the reference only" : NULL;
}

const OpImpl cross_entropy_cpu[] = {{.name = "cross_entropy_cpu",
                                     .declines = rows_cpu_declines_f64,
                                     .workspace = losses,
                                     .run = run},
                                    {0}};
const OpImpl cross_entropy_grad_cpu[] = {
    {.name = "cross_entropy_grad_cpu", .declines = declines_grad, .run = run_grad}, {0}};
