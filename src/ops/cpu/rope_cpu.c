#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"
#include "ops/rotation.h"

#include <string.h>

enum { PADDING = 16 }; /* floats between the buffers of two threads */

/* Neighbours, in every head; y may be x. */
CPU_CLONES static void rotate_neighbours(float *y, const float *x, const float *cos,
                                         const float *sin, Rotation r, float direction)
{
    for (int64_t h = 0; h < r.heads; h++) {
        float *to = y + h * r.head_dim;
        const float *from = x + h * r.head_dim;
#pragma omp simd
        for (int64_t i = 0; i < r.half; i++) {
            const float x0 = from[2 * i], x1 = from[2 * i + 1];
            const float c = cos[i], s = direction * sin[i];
            to[2 * i] = x0 * c - x1 * s;
            to[2 * i + 1] = x0 * s + x1 * c;
        }
    }
}

/* The two halves of what turns of every head; y may be x. */
CPU_CLONES static void rotate_halves(float *y, const float *x, const float *cos, const float *sin,
                                     Rotation r, float direction)
{
    for (int64_t h = 0; h < r.heads; h++) {
        float *to = y + h * r.head_dim;
        const float *from = x + h * r.head_dim;
#pragma omp simd
        for (int64_t i = 0; i < r.half; i++) {
            const float x0 = from[i], x1 = from[i + r.half];
            const float c = cos[i], s = direction * sin[i];
            to[i] = x0 * c - x1 * s;
            to[i + r.half] = x0 * s + x1 * c;
        }
    }
}

static Rotation rotation(const Plan *plan, const Node *node)
{
    return rotation_of(&node->attr, plan_in(plan, node, 1));
}

/* One float row per thread, for x that is 16 bit: the heads that turn. */
static int64_t row_buffer(Rotation r)
{
    return r.heads * r.head_dim + PADDING;
}

static size_t row_buffers(const Plan *plan, const Node *node, int threads)
{
    return (size_t)threads * (size_t)row_buffer(rotation(plan, node)) * sizeof(float);
}

static void copy_columns(Operand y, Operand x, int64_t row, int64_t first, int64_t n)
{
    memcpy(operand_cpu_at(y, row, first), operand_cpu_at(x, row, first),
           (size_t)n * plan_dtype_size(x.dtype));
}

/* What does not turn: the ends of heads, where a row is not read as a whole, and what follows the heads. */
static void copy_resting(Operand y, Operand x, int64_t row, Rotation r)
{
    const int64_t heads = r.heads * r.head_dim, turned = 2 * r.half;
    for (int64_t h = 0; turned < r.head_dim && x.dtype == DT_F32 && h < r.heads; h++) {
        copy_columns(y, x, row, h * r.head_dim + turned, r.head_dim - turned);
    }
    if (x.cols > heads) copy_columns(y, x, row, heads, x.cols - heads);
}

static void rotate_row(const OpCall *call, Rotation r, int64_t row, float *buffer)
{
    const NodeAttr *attr = &call->node->attr;
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const Operand cos = element_in(call, 1), sin = element_in(call, 2);
    const int64_t n = r.heads * r.head_dim, t = row % attr->tokens;
    float *target = operand_cpu_target(y, row, 0, buffer);
    (r.halves ? rotate_halves : rotate_neighbours)(
        target, operand_cpu_read(x, row, 0, n, buffer), operand_cpu_at(cos, t, 0),
        operand_cpu_at(sin, t, 0), r, attr->inverse ? -1.0F : 1.0F);
    operand_cpu_finish(y, row, 0, n, target);
    if (x.data != y.data) copy_resting(y, x, row, r);
}

static void rotate_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Rotation r = rotation(call->plan, call->node);
    float *buffer = (float *)call->workspace + thread * row_buffer(r);
    for (int64_t i = first; i < last; i++) rotate_row(call, r, i, buffer);
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
