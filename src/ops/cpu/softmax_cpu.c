/* A row at a time in fp32; a causal row ends at its own token. */
#include "ops/cpu/impls_cpu.h"
#include "ops/element.h"
#include "ops/simd_cpu/rows_cpu.h"
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

/* Two float rows per thread, for operands that are 16 bit. */
static size_t row_buffers(const Plan *plan, const Node *node, int threads)
{
    const size_t width = (size_t)plan_width(plan_in(plan, node, 0));
    return (size_t)threads * 2 * (width + 16) * sizeof(float);
}

static float *buffer_of(const OpCall *call, int64_t width)
{
    return (float *)call->workspace + omp_thread() * 2 * (width + 16);
}

/* Columns of the row that count; the others of `out` become 0. */
static int64_t begin_row(const OpCall *call, Operand out, int64_t row)
{
    if (!call->node->attr.causal) return out.cols;
    const int64_t n = row % out.cols + 1;
    memset(rows_cpu_at(out.data, out.dtype, row * out.cols + n), 0,
           (size_t)(out.cols - n) * plan_dtype_size(out.dtype));
    return n;
}

static Status run(const OpCall *call)
{
    const Operand p = element_out(call, 0), s = element_in(call, 0);
    const float scale = (float)call->node->attr.scale;
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < s.rows; i++) {
        float *buffer = buffer_of(call, s.cols);
        const int64_t n = begin_row(call, p, i);
        void *out = rows_cpu_at(p.data, p.dtype, i * p.cols);
        float *y = rows_cpu_target(out, p.dtype, buffer);
        const float *x = rows_cpu_read(rows_cpu_at(s.data, s.dtype, i * s.cols), s.dtype, n, y);
        normalize(y, x, n, scale);
        rows_cpu_finish(out, p.dtype, n, y);
    }
    return ST_OK;
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

static Status run_grad(const OpCall *call)
{
    const Operand ds = element_out(call, 0), dp = element_in(call, 0), p = element_in(call, 1);
    const float scale = (float)call->node->attr.scale;
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < p.rows; i++) {
        const int64_t at_row = i * p.cols, n = begin_row(call, ds, i);
        float *first = buffer_of(call, p.cols), *second = first + p.cols + 16;
        void *out = rows_cpu_at(ds.data, ds.dtype, at_row);
        float *y = rows_cpu_target(out, ds.dtype, first);
        const float *a = rows_cpu_read(rows_cpu_at(dp.data, dp.dtype, at_row), dp.dtype, n, first);
        const float *b = rows_cpu_read(rows_cpu_at(p.data, p.dtype, at_row), p.dtype, n, second);
        softmax_grad_row(y, a, b, n, scale);
        rows_cpu_finish(out, ds.dtype, n, y);
    }
    return ST_OK;
}

const OpImpl softmax_cpu[] = {{.name = "softmax_cpu",
                               .declines = rows_cpu_declines_f64,
                               .workspace = row_buffers,
                               .run = run},
                              {0}};
const OpImpl softmax_grad_cpu[] = {{.name = "softmax_grad_cpu",
                                    .declines = rows_cpu_declines_f64,
                                    .workspace = row_buffers,
                                    .run = run_grad},
                                   {0}};
