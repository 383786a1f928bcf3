#include "ops/cpu/impls_cpu.h"
#include "ops/simd_cpu/rows_cpu.h"

#include <string.h>

/* The first `heads` heads of a row, each of `half` pairs; y may be x. */
CPU_CLONES static void turn(float *y, const float *x, const float *cos, const float *sin,
                            int64_t heads, int64_t half, float direction)
{
    for (int64_t h = 0; h < heads; h++) {
        float *to = y + h * 2 * half;
        const float *from = x + h * 2 * half;
#pragma omp simd
        for (int64_t i = 0; i < half; i++) {
            const float x0 = from[2 * i], x1 = from[2 * i + 1];
            const float c = cos[i], s = direction * sin[i];
            to[2 * i] = x0 * c - x1 * s;
            to[2 * i + 1] = x0 * s + x1 * c;
        }
    }
}

static int64_t turned(const Plan *plan, const Node *node)
{
    return node->attr.heads * 2 * plan_width(plan_in(plan, node, 1));
}

/* One float row per thread, for x that is 16 bit. */
static size_t row_buffers(const Plan *plan, const Node *node, int threads)
{
    return (size_t)threads * ((size_t)turned(plan, node) + 16) * sizeof(float);
}

static void turn_row(const OpCall *call, int64_t row, float *buffer)
{
    const Tensor *x = op_in_shape(call, 0);
    const DType dtype = x->dtype;
    const int64_t W = plan_width(x), half = plan_width(op_in_shape(call, 1));
    const int64_t n = turned(call->plan, call->node), t = row % call->node->attr.tokens;
    const void *from = rows_cpu_at(op_in(call, 0), dtype, row * W);
    void *to = rows_cpu_at(op_out(call, 0), dtype, row * W);
    const float *cos = op_in(call, 1), *sin = op_in(call, 2);
    float *target = rows_cpu_target(to, dtype, buffer);
    turn(target, rows_cpu_read(from, dtype, n, buffer), cos + t * half, sin + t * half,
         call->node->attr.heads, half, call->node->attr.inverse ? -1.0F : 1.0F);
    rows_cpu_finish(to, dtype, n, target);
    if (from != to && W > n) {
        memcpy(rows_cpu_at(to, dtype, n), rows_cpu_at(from, dtype, n),
               (size_t)(W - n) * plan_dtype_size(dtype));
    }
}

static Status run(const OpCall *call)
{
    const int64_t rows = plan_rows(op_in_shape(call, 0));
    const int64_t stride = turned(call->plan, call->node) + 16;
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < rows; i++) {
        turn_row(call, i, (float *)call->workspace + omp_thread() * stride);
    }
    return ST_OK;
}

static const char *declines(const Plan *plan, const Node *node)
{
    if (plan_in(plan, node, 3)) return "the full tables are for the decomposed form";
    if (plan_in(plan, node, 0)->dtype != plan_out(plan, node, 0)->dtype)
        return "x and y differ in dtype";
    if (plan_in(plan, node, 1)->dtype != DT_F32 || plan_in(plan, node, 2)->dtype != DT_F32) {
        return "the tables are not f32";
    }
    return rows_cpu_declines_f64(plan, node);
}

const OpImpl rope_cpu[] = {
    {.name = "rope_cpu", .declines = declines, .workspace = row_buffers, .run = run}, {0}};
