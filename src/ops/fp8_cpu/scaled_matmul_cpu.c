/* No CPU multiplies 8-bit floats: they are widened to fp32 and multiplied by their scales, and our GEMM
 * multiplies those. It tells what fp8 does to the numbers, and nothing about time. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"
#include "ops/fp8/quantize.h"
#include "ops/fp8/scaled_matmul.h"
#include "ops/gemm_cpu/gemm_cpu.h"

static Operand widened(const Plan *plan, const Node *node, int input)
{
    Operand x = element_operand(NULL, plan_in(plan, node, input));
    x.dtype = DT_F32;
    x.ld = x.cols;
    return x;
}

static GemmOperands operands(const Plan *plan, const Node *node)
{
    return (GemmOperands){.c = element_operand(NULL, plan_out(plan, node, 0)),
                          .a = widened(plan, node, 0),
                          .b = widened(plan, node, 1),
                          .transpose_b = true,
                          .accumulate = node->attr.accumulate,
                          .scale = 1};
}

static size_t bytes_of(Operand x)
{
    return (size_t)i64_round_up(x.rows * x.cols * (int64_t)sizeof(float), 256);
}

static size_t workspace(const Plan *plan, const Node *node, int threads)
{
    const GemmOperands x = operands(plan, node);
    const GemmPlan p = gemm_plan(microkernel_find(DT_F32), &x);
    return bytes_of(x.a) + bytes_of(x.b) + gemm_workspace(&p, threads);
}

typedef struct Widening {
    Operand to, from, scale;
} Widening;

static void widen_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const Widening *w = data;
    const int64_t height = quantize_block(w->from.rows, w->scale.rows);
    const int64_t width = quantize_block(w->from.cols, w->scale.cols);
    (void)thread;
    for (int64_t r = first; r < last; r++) {
        float *row = operand_cpu_at(w->to, r, 0);
        const float *scale = operand_cpu_at(w->scale, r / height, 0);
        rows_cpu_load(row, operand_cpu_at(w->from, r, 0), w->from.dtype, w->from.cols);
        for (int64_t c = 0; c < w->from.cols; c++) row[c] *= scale[c / width];
    }
}

static void widen(const OpCall *call, Operand to, int input, int scale)
{
    const Widening w = {to, element_in(call, input), element_in(call, scale)};
    thread_team_for(call->threads, to.rows, 8, widen_rows, &w);
}

static Status run(const OpCall *call)
{
    GemmOperands x = operands(call->plan, call->node);
    x.c = element_out(call, 0);
    x.a.data = call->workspace;
    x.b.data = (char *)call->workspace + bytes_of(x.a);
    x.bias = element_in(call, SCALED_MATMUL_IN_BIAS);
    widen(call, x.a, 0, SCALED_MATMUL_IN_SCALE_A);
    widen(call, x.b, 1, SCALED_MATMUL_IN_SCALE_B);
    const GemmPlan p = gemm_plan(microkernel_find(DT_F32), &x);
    gemm_multiply(&p, (char *)x.b.data + bytes_of(x.b), call->threads);
    return ST_OK;
}

const OpImpl scaled_matmul_cpu[] = {
    {.name = "emulated", .declines = rows_cpu_declines_f64, .workspace = workspace, .run = run},
    {0}};
