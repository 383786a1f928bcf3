/* One pass over each row for the norm; the weight's gradient is summed over fixed groups of rows,
 * so that the result does not depend on the number of threads. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"

#include <math.h>
#include <stdlib.h>

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

static Status run(const OpCall *call)
{
    const Operand x = element_in(call, 0), delta = element_in(call, 2), y = element_out(call, 0);
    const int64_t n = x.cols;
    const float *xs = x.data, *w = op_in(call, 1);
    float *r = op_out(call, 1), *s = op_out(call, 2);
    const float eps = (float)call->node->attr.shift;

#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < x.rows; i++) {
        float *target = operand_cpu_target(y, i, 0, rows_cpu_buffer(call, 0));
        const float *add =
            delta.data ? operand_cpu_read(delta, i, 0, n, rows_cpu_buffer(call, 1)) : NULL;
        r[i] = norm_row(target, s ? s + i * n : NULL, xs + i * n, w, add, n, eps);
        operand_cpu_finish(y, i, 0, n, target);
    }
    return ST_OK;
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

static Status run_grad(const OpCall *call)
{
    const Tensor *shape = op_in_shape(call, 1);
    const int64_t n = plan_width(shape), ld = n + PADDING;
    const int64_t groups = i64_ceil_div(plan_rows(shape), GROUP);
    float *partial = call->workspace, *dw = op_out(call, 2);

#pragma omp parallel for schedule(dynamic) num_threads(call->threads)
    for (int64_t g = 0; g < groups; g++) {
        grad_group(call, g, partial + g * ld, partial + (groups + omp_thread()) * ld);
    }
#pragma omp parallel for schedule(dynamic, 64) num_threads(call->threads)
    for (int64_t j = 0; j < n; j++) {
        float sum = 0;
        for (int64_t g = 0; g < groups; g++) sum += partial[g * ld + j];
        dw[j] = sum;
    }
    return ST_OK;
}

const OpImpl rmsnorm_cpu[] = {{"rmsnorm_cpu", rows_cpu_declines_f64, rows_cpu_buffers, run}, {0}};
const OpImpl rmsnorm_grad_cpu[] = {
    {"rmsnorm_grad_cpu", rows_cpu_declines_f64, grad_workspace, run_grad}, {0}};
