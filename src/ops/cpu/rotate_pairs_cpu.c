/* Neighbours that fill the row are one long run of pairs, wherever rows end; heads are turned row by row. */
#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/rotation.h"

#include <string.h>

_Static_assert(ROWS_CHUNK % 2 == 0, "a chunk holds whole pairs");

/* y may be x: a pair is read before it is written. */
CPU_CLONES static void rotate(float *y, const float *x, int64_t pairs, float sign)
{
#pragma omp simd
    for (int64_t i = 0; i < pairs; i++) {
        const float x0 = x[2 * i], x1 = x[2 * i + 1];
        y[2 * i] = sign * x1;
        y[2 * i + 1] = -sign * x0;
    }
}

CPU_CLONES static void turn_halves(float *y, const float *x, int64_t half, float sign)
{
#pragma omp simd
    for (int64_t i = 0; i < half; i++) {
        const float x0 = x[i], x1 = x[i + half];
        y[i] = sign * x1;
        y[i + half] = -sign * x0;
    }
}

static float sign_of(const NodeAttr *attr)
{
    return attr->inverse ? 1.0F : -1.0F;
}

static void kernel(const void *args, float *const out[], const float *const in[], Chunk chunk)
{
    rotate(out[0], in[0], chunk.n / 2, sign_of(args));
}

static Status run(const OpCall *call)
{
    const Elementwise e = elementwise_cpu(call, 1, kernel, &call->node->attr);
    return elementwise_cpu_run(call, &e);
}

static const char *declines(const Plan *plan, const Node *node)
{
    if (node->attr.head_dim) return "it turns neighbours that fill the row";
    return rows_cpu_declines_f64(plan, node);
}

/* y may be x. */
static void rotate_heads(float *y, const float *x, Rotation r, float sign)
{
    for (int64_t h = 0; h < r.heads; h++) {
        float *to = y + h * r.head_dim;
        (r.halves ? turn_halves : rotate)(to, x + h * r.head_dim, r.half, sign);
        memset(to + 2 * r.half, 0, (size_t)(r.head_dim - 2 * r.half) * sizeof *to);
    }
}

static void rotate_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const Rotation r = rotation_of_row(&call->node->attr, x.cols);
    float *in = rows_cpu_buffer(call, thread, 0), *out = rows_cpu_buffer(call, thread, 1);
    for (int64_t i = first; i < last; i++) {
        float *target = operand_cpu_target(y, i, 0, out);
        rotate_heads(target, operand_cpu_read(x, i, 0, x.cols, in), r, sign_of(&call->node->attr));
        operand_cpu_finish(y, i, 0, x.cols, target);
    }
}

static const char *declines_heads(const Plan *plan, const Node *node)
{
    if (!node->attr.head_dim) return "it turns heads";
    return rows_cpu_declines_f64(plan, node);
}

const OpImpl rotate_pairs_cpu[] = {{.name = "rotate_pairs_cpu", .declines = declines, .run = run},
                                   {.name = "rotate_heads_cpu",
                                    .declines = declines_heads,
                                    .workspace = rows_cpu_buffers,
                                    .rows = rotate_rows},
                                   {0}};
