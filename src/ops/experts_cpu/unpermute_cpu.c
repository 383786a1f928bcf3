/* Threads take tokens: each reads or writes the K rows of its own. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"

#include <string.h>

/* sum += w x. */
CPU_CLONES static void add_scaled(float *restrict sum, const float *restrict x, float w, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) sum[i] += w * x[i];
}

CPU_CLONES static void scale(float *restrict out, const float *restrict x, float w, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) out[i] = w * x[i];
}

CPU_CLONES static float inner_product(const float *restrict x, const float *restrict y, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Which row token n's j-th expert has. */
static int64_t place_of(const OpCall *call, int input, int64_t n, int64_t j)
{
    return ((const int32_t *)op_in(call, input))[n * plan_width(op_in_shape(call, input)) + j];
}

/* n elements of token `row` from column `col` on. */
static void sum_part(const OpCall *call, int64_t row, int64_t col, int64_t n)
{
    const Operand y = element_out(call, 0), yp = element_in(call, 0), weights = element_in(call, 2);
    const int64_t K = plan_width(op_in_shape(call, 1));
    float sum[ROWS_CHUNK], buffer[ROWS_CHUNK], one;
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int64_t j = 0; j < K; j++) {
        const float w = weights.data ? *operand_cpu_read(weights, row, j, 1, &one) : 1;
        add_scaled(sum, operand_cpu_read(yp, place_of(call, 1, row, j), col, n, buffer), w, n);
    }
    rows_cpu_store(operand_cpu_at(y, row, col), sum, y.dtype, n);
}

static void unpermute_rows(const void *data, int64_t begin, int64_t end, int thread)
{
    const OpCall *call = data;
    const int64_t width = plan_width(op_out_shape(call, 0));
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        for (int64_t c = 0; c < width; c += ROWS_CHUNK)
            sum_part(call, i, c, i64_min(ROWS_CHUNK, width - c));
    }
}

/* Of one row of yp: its gradient, and that of its weight. */
static void grad_row(const OpCall *call, int64_t n, int64_t j)
{
    const Operand dyp = element_out(call, 0), dweights = element_out(call, 1);
    const Operand dy = element_in(call, 0), yp = element_in(call, 1), weights = element_in(call, 3);
    const int64_t row = place_of(call, 2, n, j);
    float a[ROWS_CHUNK], b[ROWS_CHUNK], out[ROWS_CHUNK], one, sum = 0;
    const float w = *operand_cpu_read(weights, n, j, 1, &one);
    for (int64_t c = 0; c < dy.cols; c += ROWS_CHUNK) {
        const int64_t m = i64_min(ROWS_CHUNK, dy.cols - c);
        const float *flow = operand_cpu_read(dy, n, c, m, a);
        float *target = operand_cpu_target(dyp, row, c, out);
        sum += inner_product(flow, operand_cpu_read(yp, row, c, m, b), m);
        scale(target, flow, w, m);
        operand_cpu_finish(dyp, row, c, m, target);
    }
    rows_cpu_store(operand_cpu_at(dweights, n, j), &sum, dweights.dtype, 1);
}

static void grad_tokens(const void *data, int64_t begin, int64_t end, int thread)
{
    const OpCall *call = data;
    const int64_t K = plan_width(op_in_shape(call, 2));
    (void)thread;
    for (int64_t n = begin; n < end; n++) {
        for (int64_t j = 0; j < K; j++) grad_row(call, n, j);
    }
}

static Status run_unpermute_grad(const OpCall *call)
{
    thread_team_for(call->threads, plan_rows(op_in_shape(call, 0)), 8, grad_tokens, call);
    return ST_OK;
}

const OpImpl unpermute_cpu[] = {
    {.name = "unpermute_cpu", .declines = rows_cpu_declines_f64, .rows = unpermute_rows}, {0}};
const OpImpl unpermute_grad_cpu[] = {
    {.name = "unpermute_grad_cpu", .declines = rows_cpu_declines_f64, .run = run_unpermute_grad},
    {0}};
