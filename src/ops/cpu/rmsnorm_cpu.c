/* One pass over each row for the norm; the weight's gradient is summed over fixed groups of rows,
 * so that the result does not depend on the number of threads. */
#include "ops/cpu/impls_cpu.h"
#include "ops/simd_cpu/rows_cpu.h"

#include <math.h>
#include <stdlib.h>

enum { GROUP = 32 }; /* rows whose weight gradients are summed by one thread */

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

/* Two float rows per thread, for operands that are 16 bit. */
static size_t row_buffers(const Plan *plan, const Node *node, int threads)
{
    const size_t width = (size_t)plan_width(plan_in(plan, node, 0));
    return (size_t)threads * 2 * (width + 16) * sizeof(float);
}

static Status run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0), *y = op_out_shape(call, 0);
    const Tensor *delta = op_in_shape(call, 2);
    const int64_t rows = plan_rows(x), n = plan_width(x);
    const float *xs = op_in(call, 0), *w = op_in(call, 1);
    float *r = op_out(call, 1), *s = op_out(call, 2);
    const float eps = (float)call->node->attr.shift;

#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < rows; i++) {
        float *buffer = (float *)call->workspace + (int64_t)omp_thread() * 2 * (n + 16);
        void *out = rows_cpu_at(op_out(call, 0), y->dtype, i * n);
        float *target = rows_cpu_target(out, y->dtype, buffer);
        const float *add = NULL;
        if (delta) {
            add = rows_cpu_read(rows_cpu_at(op_in(call, 2), delta->dtype, i * n), delta->dtype, n,
                                buffer + n + 16);
        }
        r[i] = norm_row(target, s ? s + i * n : NULL, xs + i * n, w, add, n, eps);
        rows_cpu_finish(out, y->dtype, n, target);
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

static int64_t groups(int64_t rows)
{
    return (rows + GROUP - 1) / GROUP;
}

/* A row of dw for every group, then one float row per thread for dy. */
static size_t grad_workspace(const Plan *plan, const Node *node, int threads)
{
    const Tensor *s = plan_in(plan, node, 1);
    const size_t n = (size_t)plan_width(s) + 16;
    return ((size_t)groups(plan_rows(s)) + (size_t)threads) * n * sizeof(float);
}

static void grad_group(const OpCall *call, int64_t g, float *dw, float *buffer)
{
    const Tensor *shape = op_in_shape(call, 1), *dy = op_in_shape(call, 0);
    const Tensor *ddelta = op_out_shape(call, 1);
    const int64_t rows = plan_rows(shape), n = plan_width(shape);
    const float *s = op_in(call, 1), *w = op_in(call, 2), *r = op_in(call, 3), *ds = op_in(call, 4);
    float *dx = op_out(call, 0);
    const int64_t end = (g + 1) * GROUP < rows ? (g + 1) * GROUP : rows;

    for (int64_t j = 0; j < n; j++) dw[j] = 0;
    for (int64_t i = g * GROUP; i < end; i++) {
        const void *from = rows_cpu_at(op_in(call, 0), dy->dtype, i * n);
        norm_grad_row(dx + i * n, dw, rows_cpu_read(from, dy->dtype, n, buffer), s + i * n, w, r[i],
                      ds ? ds + i * n : NULL, n);
        if (ddelta) {
            rows_cpu_store(rows_cpu_at(op_out(call, 1), ddelta->dtype, i * n), dx + i * n,
                           ddelta->dtype, n);
        }
    }
}

static Status run_grad(const OpCall *call)
{
    const Tensor *shape = op_in_shape(call, 1);
    const int64_t n = plan_width(shape), n_groups = groups(plan_rows(shape));
    float *partial = call->workspace, *dw = op_out(call, 2);

#pragma omp parallel for schedule(dynamic) num_threads(call->threads)
    for (int64_t g = 0; g < n_groups; g++) {
        float *buffer = partial + (n_groups + omp_thread()) * (n + 16);
        grad_group(call, g, partial + g * (n + 16), buffer);
    }
#pragma omp parallel for schedule(dynamic, 64) num_threads(call->threads)
    for (int64_t j = 0; j < n; j++) {
        float sum = 0;
        for (int64_t g = 0; g < n_groups; g++) sum += partial[g * (n + 16) + j];
        dw[j] = sum;
    }
    return ST_OK;
}

const OpImpl rmsnorm_cpu[] = {{"rmsnorm_cpu", rows_cpu_declines_f64, row_buffers, run}, {0}};
const OpImpl rmsnorm_grad_cpu[] = {
    {"rmsnorm_grad_cpu", rows_cpu_declines_f64, grad_workspace, run_grad}, {0}};
