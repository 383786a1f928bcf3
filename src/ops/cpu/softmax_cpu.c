/* A row at a time in fp32; a causal row ends at its own token, and begins where its window does. */
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"
#include "ops/simd_cpu/vector_math.h"
#include "ops/visible_keys.h"

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

/* The columns of a row that count. */
typedef struct Columns {
    int64_t first, n;
} Columns;

/* The others of `out` become 0. */
static Columns begin_row(const OpCall *call, Operand out, int64_t row)
{
    const NodeAttr *attr = &call->node->attr;
    if (!attr->causal) return (Columns){0, out.cols};
    const int64_t end = row % out.cols + 1, first = visible_keys_first(attr, end - 1);
    const size_t size = plan_dtype_size(out.dtype);
    memset(operand_cpu_at(out, row, 0), 0, (size_t)first * size);
    memset(operand_cpu_at(out, row, end), 0, (size_t)(out.cols - end) * size);
    return (Columns){first, end - first};
}

static void softmax_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand p = element_out(call, 0), s = element_in(call, 0);
    const float scale = (float)call->node->attr.scale;
    for (int64_t i = first; i < last; i++) {
        const Columns c = begin_row(call, p, i);
        float *y = operand_cpu_target(p, i, c.first, rows_cpu_buffer(call, thread, 0));
        normalize(y, operand_cpu_read(s, i, c.first, c.n, y), c.n, scale);
        operand_cpu_finish(p, i, c.first, c.n, y);
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
        const Columns c = begin_row(call, ds, i);
        float *buffer = rows_cpu_buffer(call, thread, 0);
        float *y = operand_cpu_target(ds, i, c.first, buffer);
        softmax_grad_row(y, operand_cpu_read(dp, i, c.first, c.n, buffer),
                         operand_cpu_read(p, i, c.first, c.n, rows_cpu_buffer(call, thread, 1)),
                         c.n, scale);
        operand_cpu_finish(ds, i, c.first, c.n, y);
    }
}

const OpImpl softmax_cpu[] = {
    {"softmax_cpu", rows_cpu_declines_f64, rows_cpu_buffers, .rows = softmax_rows}, {0}};
const OpImpl softmax_grad_cpu[] = {
    {"softmax_grad_cpu", rows_cpu_declines_f64, rows_cpu_buffers, .rows = softmax_grad_rows}, {0}};
