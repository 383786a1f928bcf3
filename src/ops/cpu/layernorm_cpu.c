/* One pass over each row for the norm; the gradients of weight and bias are summed over fixed
 * groups of rows, so that the result does not depend on the number of threads. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"

#include <math.h>

enum {
    GROUP = 32,  /* rows whose gradients of weight and bias are summed by one thread */
    PADDING = 16 /* floats between the rows of a workspace */
};

typedef struct RowStats {
    float mean, rstd;
} RowStats;

CPU_CLONES static float add_row(float *restrict s, const float *restrict x,
                                const float *restrict delta, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < n; j++) {
        s[j] = x[j] + delta[j];
        sum += s[j];
    }
    return sum;
}

CPU_CLONES static float sum_row(const float *x, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < n; j++) sum += x[j];
    return sum;
}

/* The variance in a second pass: a difference of sums would lose digits where the mean is large. */
CPU_CLONES static RowStats layer_row(float *restrict y, const float *restrict s,
                                     const float *restrict w, const float *restrict b, float sum,
                                     int64_t n, float eps)
{
    const float mean = sum / (float)n;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int64_t j = 0; j < n; j++) squares += (s[j] - mean) * (s[j] - mean);
    const float rstd = 1.0F / sqrtf(squares / (float)n + eps);
    for (int64_t j = 0; j < n; j++) y[j] = (s[j] - mean) * rstd * w[j] + b[j];
    return (RowStats){mean, rstd};
}

static void norm_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand x = element_in(call, 0), delta = element_in(call, 3), y = element_out(call, 0);
    const int64_t n = x.cols;
    const float *w = op_in(call, 1), *b = op_in(call, 2);
    float *means = op_out(call, 1), *rstds = op_out(call, 2), *sums = op_out(call, 3);
    const float eps = (float)call->node->attr.shift;
    for (int64_t i = first; i < last; i++) {
        const float *row = (const float *)x.data + i * n;
        float *target = operand_cpu_target(y, i, 0, rows_cpu_buffer(call, thread, 0)), sum;
        if (delta.data) {
            sum = add_row(sums + i * n, row,
                          operand_cpu_read(delta, i, 0, n, rows_cpu_buffer(call, thread, 1)), n);
            row = sums + i * n;
        } else {
            sum = sum_row(row, n);
        }
        const RowStats stats = layer_row(target, row, w, b, sum, n, eps);
        means[i] = stats.mean;
        rstds[i] = stats.rstd;
        operand_cpu_finish(y, i, 0, n, target);
    }
}

CPU_CLONES static void layer_grad_row(float *dx, float *restrict dw, float *restrict db,
                                      const float *restrict dy, const float *restrict s,
                                      const float *restrict w, RowStats stats, const float *ds,
                                      int64_t n)
{
    const float mean = stats.mean, r = stats.rstd;
    float sum = 0, dot = 0;
#pragma omp simd reduction(+ : sum, dot)
    for (int64_t j = 0; j < n; j++) {
        const float g = dy[j] * w[j];
        sum += g;
        dot += g * (s[j] - mean);
    }
    const float shift = sum / (float)n, k = dot / (float)n * r * r;
    if (ds) {
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            dx[j] = ds[j] + r * (dy[j] * w[j] - shift - (s[j] - mean) * k);
    } else {
        for (int64_t j = 0; j < n; j++) dx[j] = r * (dy[j] * w[j] - shift - (s[j] - mean) * k);
    }
    for (int64_t j = 0; j < n; j++) dw[j] += dy[j] * (s[j] - mean) * r;
    for (int64_t j = 0; j < n; j++) db[j] += dy[j];
}

static int64_t padded(int64_t width)
{
    return width + PADDING;
}

/* A row of dw and one of db for every group, then one float row per thread for dy. */
static size_t grad_workspace(const Plan *plan, const Node *node, int threads)
{
    const Tensor *s = plan_in(plan, node, 1);
    const int64_t rows = 2 * i64_ceil_div(plan_rows(s), GROUP) + threads;
    return (size_t)(rows * padded(plan_width(s))) * sizeof(float);
}

static void grad_group(const OpCall *call, int64_t g, float *dw, float *db, float *buffer)
{
    const Operand dy = element_in(call, 0), ddelta = element_out(call, 1);
    const int64_t n = dy.cols, end = i64_min((g + 1) * GROUP, dy.rows);
    const float *s = op_in(call, 1), *w = op_in(call, 2), *mean = op_in(call, 3);
    const float *rstd = op_in(call, 4), *ds = op_in(call, 5);
    float *dx = op_out(call, 0);
    for (int64_t j = 0; j < n; j++) dw[j] = db[j] = 0;
    for (int64_t i = g * GROUP; i < end; i++) {
        layer_grad_row(dx + i * n, dw, db, operand_cpu_read(dy, i, 0, n, buffer), s + i * n, w,
                       (RowStats){mean[i], rstd[i]}, ds ? ds + i * n : NULL, n);
        if (ddelta.data) rows_cpu_store(operand_cpu_at(ddelta, i, 0), dx + i * n, ddelta.dtype, n);
    }
}

static int64_t group_count(const OpCall *call)
{
    return i64_ceil_div(plan_rows(op_in_shape(call, 1)), GROUP);
}

static void grad_groups(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const int64_t ld = padded(plan_width(op_in_shape(call, 1))), groups = group_count(call);
    float *partial = call->workspace, *buffer = partial + (2 * groups + thread) * ld;
    for (int64_t g = first; g < last; g++)
        grad_group(call, g, partial + g * ld, partial + (groups + g) * ld, buffer);
}

static void sum_groups(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const int64_t ld = padded(plan_width(op_in_shape(call, 1))), groups = group_count(call);
    const float *weight = call->workspace, *bias = weight + groups * ld;
    float *dw = op_out(call, 2), *db = op_out(call, 3);
    (void)thread;
    for (int64_t j = first; j < last; j++) {
        dw[j] = db[j] = 0;
        for (int64_t g = 0; g < groups; g++) {
            dw[j] += weight[g * ld + j];
            db[j] += bias[g * ld + j];
        }
    }
}

static Status run_grad(const OpCall *call)
{
    thread_team_for(call->threads, group_count(call), 1, grad_groups, call);
    thread_team_for(call->threads, plan_width(op_in_shape(call, 1)), 64, sum_groups, call);
    return ST_OK;
}

const OpImpl layernorm_cpu[] = {
    {"layernorm_cpu", rows_cpu_declines_f64, rows_cpu_buffers, .rows = norm_rows}, {0}};
const OpImpl layernorm_grad_cpu[] = {
    {"layernorm_grad_cpu", rows_cpu_declines_f64, grad_workspace, run_grad}, {0}};
