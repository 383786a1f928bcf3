#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"

#include <string.h>

enum { PADDING = 16 }; /* floats between the buffers of two threads */

/* The first `heads` heads of a row, each of `half` pairs; y may be x. */
CPU_CLONES static void rotate_heads(float *y, const float *x, const float *cos, const float *sin,
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

/* Columns of a row that are rotated. */
static int64_t rotated_width(const Plan *plan, const Node *node)
{
    return node->attr.heads * 2 * plan_width(plan_in(plan, node, 1));
}

/* One float row per thread, for x that is 16 bit. */
static size_t row_buffers(const Plan *plan, const Node *node, int threads)
{
    return (size_t)threads * ((size_t)rotated_width(plan, node) + PADDING) * sizeof(float);
}

static void rotate_row(const OpCall *call, int64_t row, float *buffer)
{
    const NodeAttr *attr = &call->node->attr;
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const Operand cos = element_in(call, 1), sin = element_in(call, 2);
    const int64_t n = rotated_width(call->plan, call->node), t = row % attr->tokens;
    float *target = operand_cpu_target(y, row, 0, buffer);
    rotate_heads(target, operand_cpu_read(x, row, 0, n, buffer), operand_cpu_at(cos, t, 0),
                 operand_cpu_at(sin, t, 0), attr->heads, cos.cols, attr->inverse ? -1.0F : 1.0F);
    operand_cpu_finish(y, row, 0, n, target);
    if (x.data != y.data && x.cols > n) {
        memcpy(operand_cpu_at(y, row, n), operand_cpu_at(x, row, n),
               (size_t)(x.cols - n) * plan_dtype_size(x.dtype));
    }
}

static void rotate_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const int64_t stride = rotated_width(call->plan, call->node) + PADDING;
    for (int64_t i = first; i < last; i++) {
        rotate_row(call, i, (float *)call->workspace + thread * stride);
    }
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
    {.name = "rope_cpu", .declines = declines, .workspace = row_buffers, .rows = rotate_rows}, {0}};
