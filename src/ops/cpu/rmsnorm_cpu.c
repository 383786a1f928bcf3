/* One pass over each row for the norm; the weight's gradient is summed over fixed groups of rows,
 * so that the result does not depend on the number of threads. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"

#include <math.h>

enum {
    GROUP = 32,  /* rows whose weight gradients are summed by one thread */
    PADDING = 16 /* floats between the rows of a workspace */
};

CPU_CLONES static float norm_row(float *restrict y, float *s, const float *x,
                                 const float *restrict w, const float *delta, int64_t n, float eps)
{
    float sum = 0;
    if (delta) {
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < n; j++) {
            s[j] = x[j] + delta[j];
            sum += s[j] * s[j];
        }
    } else {
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < n; j++) sum += x[j] * x[j];
    }
    const float *v = delta ? s : x;
    const float r = 1.0F / sqrtf(sum / (float)n + eps);
    for (int64_t j = 0; j < n; j++) y[j] = v[j] * r * w[j];
    return r;
}

static void norm_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand x = element_in(call, 0), delta = element_in(call, 2), y = element_out(call, 0);
    const int64_t n = x.cols;
    const float *xs = x.data, *w = op_in(call, 1);
    float *r = op_out(call, 1), *s = op_out(call, 2);
    const float eps = (float)call->node->attr.shift;
    for (int64_t i = first; i < last; i++) {
        float *target = operand_cpu_target(y, i, 0, rows_cpu_buffer(call, thread, 0));
        const float *add =
            delta.data ? operand_cpu_read(delta, i, 0, n, rows_cpu_buffer(call, thread, 1)) : NULL;
        r[i] = norm_row(target, s ? s + i * n : NULL, xs + i * n, w, add, n, eps);
        operand_cpu_finish(y, i, 0, n, target);
    }
}

CPU_CLONES static void norm_grad_row(float *dx, float *restrict dw, const float *restrict dy,
                                     const float *restrict s, const float *restrict w, float r,
                                     const float *ds, int64_t n)
{
    float dot = 0;
#pragma omp simd reduction(+ : dot)
    for (int64_t j = 0; j < n; j++) dot += dy[j] * w[j] * s[j];
    const float k = dot / (float)n * r * r * r;
    if (ds) {
#pragma omp simd
        for (int64_t j = 0; j < n; j++) dx[j] = ds[j] + dy[j] * w[j] * r - s[j] * k;
    } else {
        for (int64_t j = 0; j < n; j++) dx[j] = dy[j] * w[j] * r - s[j] * k;
    }
    for (int64_t j = 0; j < n; j++) dw[j] += dy[j] * s[j] * r;
}

/* A row of dw for every group, then one float row per thread for dy. */
static size_t grad_workspace(const Plan *plan, const Node *node, int threads)
{
    const Tensor *s = plan_in(plan, node, 1);
    const int64_t rows = i64_ceil_div(plan_rows(s), GROUP) + threads;
    return (size_t)(rows * (plan_width(s) + PADDING)) * sizeof(float);
}

static void grad_group(const OpCall *call, int64_t g, float *dw, float *buffer)
{
    const Operand dy = element_in(call, 0), ddelta = element_out(call, 1);
    const int64_t rows = dy.rows, n = dy.cols;
    const float *s = op_in(call, 1), *w = op_in(call, 2), *r = op_in(call, 3), *ds = op_in(call, 4);
    float *dx = op_out(call, 0);
    const int64_t end = i64_min((g + 1) * GROUP, rows);

    for (int64_t j = 0; j < n; j++) dw[j] = 0;
    for (int64_t i = g * GROUP; i < end; i++) {
        norm_grad_row(dx + i * n, dw, operand_cpu_read(dy, i, 0, n, buffer), s + i * n, w, r[i],
                      ds ? ds + i * n : NULL, n);
        if (ddelta.data) {
            rows_cpu_store(operand_cpu_at(ddelta, i, 0), dx + i * n, ddelta.dtype, n);
        }
    }
}

static int64_t group_count(const OpCall *call)
{
    return i64_ceil_div(plan_rows(op_in_shape(call, 1)), GROUP);
}

static void grad_groups(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const int64_t ld = plan_width(op_in_shape(call, 1)) + PADDING;
    float *partial = call->workspace, *buffer = partial + (group_count(call) + thread) * ld;
    for (int64_t g = first; g < last; g++) grad_group(call, g, partial + g * ld, buffer);
}

static void sum_groups(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const int64_t ld = plan_width(op_in_shape(call, 1)) + PADDING, groups = group_count(call);
    const float *partial = call->workspace;
    float *dw = op_out(call, 2);
    (void)thread;
    for (int64_t j = first; j < last; j++) {
        float sum = 0;
        for (int64_t g = 0; g < groups; g++) sum += partial[g * ld + j];
        dw[j] = sum;
    }
}

static Status run_grad(const OpCall *call)
{
    thread_team_for(call->threads, group_count(call), 1, grad_groups, call);
    thread_team_for(call->threads, plan_width(op_in_shape(call, 1)), 64, sum_groups, call);
    return ST_OK;
}

const OpImpl rmsnorm_cpu[] = {
    {"rmsnorm_cpu", rows_cpu_declines_f64, rows_cpu_buffers, .rows = norm_rows}, {0}};
const OpImpl rmsnorm_grad_cpu[] = {
    {"rmsnorm_grad_cpu", rows_cpu_declines_f64, grad_workspace, run_grad}, {0}};
