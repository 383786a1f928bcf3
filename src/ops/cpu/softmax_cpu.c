/* A row at a time in fp32; a causal row ends at its own token. */
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"
#include "ops/simd_cpu/vector_math.h"

#include <math.h>
#include <string.h>

CPU_CLONES static void normalize(float *y, const float *x, int64_t n, float scale)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) y[i] = scale * x[i];
    const float max = vector_math_max(y, n, -INFINITY);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        y[i] = vector_math_exp(y[i] - max);
        sum += y[i];
    }
    const float factor = 1.0F / sum;
    for (int64_t i = 0; i < n; i++) y[i] *= factor;
}

/* Columns of the row that count; the others of `out` become 0. */
static int64_t begin_row(const OpCall *call, Operand out, int64_t row)
{
    if (!call->node->attr.causal) return out.cols;
    const int64_t n = row % out.cols + 1;
    memset(operand_cpu_at(out, row, n), 0, (size_t)(out.cols - n) * plan_dtype_size(out.dtype));
    return n;
}

static void softmax_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand p = element_out(call, 0), s = element_in(call, 0);
    const float scale = (float)call->node->attr.scale;
    for (int64_t i = first; i < last; i++) {
        const int64_t n = begin_row(call, p, i);
        float *y = operand_cpu_target(p, i, 0, rows_cpu_buffer(call, thread, 0));
        normalize(y, operand_cpu_read(s, i, 0, n, y), n, scale);
        operand_cpu_finish(p, i, 0, n, y);
    }
}

CPU_CLONES static void softmax_grad_row(float *ds, const float *dp, const float *p, int64_t n,
                                        float scale)
{
    float dot = 0;
#pragma omp simd reduction(+ : dot)
    for (int64_t i = 0; i < n; i++) dot += dp[i] * p[i];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) ds[i] = scale * p[i] * (dp[i] - dot);
}

static void softmax_grad_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand ds = element_out(call, 0), dp = element_in(call, 0), p = element_in(call, 1);
    const float scale = (float)call->node->attr.scale;
    for (int64_t i = first; i < last; i++) {
        const int64_t n = begin_row(call, ds, i);
        float *buffer = rows_cpu_buffer(call, thread, 0), *y = operand_cpu_target(ds, i, 0, buffer);
        softmax_grad_row(y, operand_cpu_read(dp, i, 0, n, buffer),
                         operand_cpu_read(p, i, 0, n, rows_cpu_buffer(call, thread, 1)), n, scale);
        operand_cpu_finish(ds, i, 0, n, y);
    }
}

const OpImpl softmax_cpu[] = {
    {"softmax_cpu", rows_cpu_declines_f64, rows_cpu_buffers, .rows = softmax_rows}, {0}};
const OpImpl softmax_grad_cpu[] = {
    {"softmax_grad_cpu", rows_cpu_declines_f64, rows_cpu_buffers, .rows = softmax_grad_rows}, {0}};
