/* Head by head; the weight's gradient is summed over fixed groups of rows, so that the result does
 * not depend on the number of threads. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"

#include <math.h>

enum {
    GROUP = 32,  /* rows whose weight gradients are summed by one thread */
    PADDING = 16 /* floats between the rows of a workspace */
};

CPU_CLONES static float norm_head(float *restrict y, const float *restrict x,
                                  const float *restrict w, int64_t n, float eps)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < n; j++) sum += x[j] * x[j];
    const float r = 1.0F / sqrtf(sum / (float)n + eps);
    for (int64_t j = 0; j < n; j++) y[j] = x[j] * r * w[j];
    return r;
}

static void norm_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand x = element_in(call, 0), y = element_out(call, 0);
    const int64_t H = call->node->attr.heads, D = x.cols / H;
    const float *w = op_in(call, 1), eps = (float)call->node->attr.shift;
    float *r = op_out(call, 1);
    for (int64_t i = first; i < last; i++) {
        const float *row = operand_cpu_read(x, i, 0, x.cols, rows_cpu_buffer(call, thread, 0));
        float *target = operand_cpu_target(y, i, 0, rows_cpu_buffer(call, thread, 1));
        for (int64_t h = 0; h < H; h++)
            r[i * H + h] = norm_head(target + h * D, row + h * D, w, D, eps);
        operand_cpu_finish(y, i, 0, x.cols, target);
    }
}

CPU_CLONES static void norm_grad_head(float *restrict dx, float *restrict dw,
                                      const float *restrict dy, const float *restrict x,
                                      const float *restrict w, float r, int64_t n)
{
    float dot = 0;
#pragma omp simd reduction(+ : dot)
    for (int64_t j = 0; j < n; j++) dot += dy[j] * w[j] * x[j];
    const float k = dot / (float)n * r * r * r;
    for (int64_t j = 0; j < n; j++) dx[j] = dy[j] * w[j] * r - x[j] * k;
    for (int64_t j = 0; j < n; j++) dw[j] += dy[j] * x[j] * r;
}

static int64_t group_count(const Tensor *x)
{
    return i64_ceil_div(plan_rows(x), GROUP);
}

/* A row of dw for every group, then a row of dy, x and dx for every thread. */
static size_t grad_workspace(const Plan *plan, const Node *node, int threads)
{
    const Tensor *x = plan_in(plan, node, 1);
    const int64_t D = plan_width(x) / node->attr.heads;
    const int64_t sums = group_count(x) * (D + PADDING);
    return (size_t)(sums + 3 * threads * (plan_width(x) + PADDING)) * sizeof(float);
}

static void grad_group(const OpCall *call, int64_t g, float *dw, float *buffer)
{
    const Operand dy = element_in(call, 0), x = element_in(call, 1), dx = element_out(call, 0);
    const int64_t H = call->node->attr.heads, D = x.cols / H, ld = x.cols + PADDING;
    const int64_t end = i64_min((g + 1) * GROUP, x.rows);
    const float *w = op_in(call, 2), *r = op_in(call, 3);
    for (int64_t j = 0; j < D; j++) dw[j] = 0;
    for (int64_t i = g * GROUP; i < end; i++) {
        const float *flow = operand_cpu_read(dy, i, 0, x.cols, buffer);
        const float *row = operand_cpu_read(x, i, 0, x.cols, buffer + ld);
        float *target = operand_cpu_target(dx, i, 0, buffer + 2 * ld);
        for (int64_t h = 0; h < H; h++)
            norm_grad_head(target + h * D, dw, flow + h * D, row + h * D, w, r[i * H + h], D);
        operand_cpu_finish(dx, i, 0, x.cols, target);
    }
}

static void grad_groups(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Tensor *x = op_in_shape(call, 1);
    const int64_t ld = plan_width(x) / call->node->attr.heads + PADDING;
    float *sums = call->workspace;
    float *buffer = sums + group_count(x) * ld + 3 * thread * (plan_width(x) + PADDING);
    for (int64_t g = first; g < last; g++) grad_group(call, g, sums + g * ld, buffer);
}

static Status run_grad(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 1);
    const int64_t D = plan_width(x) / call->node->attr.heads, groups = group_count(x);
    const float *sums = call->workspace;
    float *dw = op_out(call, 1);
    thread_team_for(call->threads, groups, 1, grad_groups, call);
    for (int64_t j = 0; j < D; j++) {
        dw[j] = 0;
        for (int64_t g = 0; g < groups; g++) dw[j] += sums[g * (D + PADDING) + j];
    }
    return ST_OK;
}

const OpImpl head_norm_cpu[] = {
    {"head_norm_cpu", rows_cpu_declines_f64, rows_cpu_buffers, .rows = norm_rows}, {0}};
const OpImpl head_norm_grad_cpu[] = {
    {"head_norm_grad_cpu", rows_cpu_declines_f64, grad_workspace, run_grad}, {0}};
