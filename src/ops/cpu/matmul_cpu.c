/* Matrix multiplications of linear layers: our own GEMM, or the system's BLAS, for which 16-bit
 * operands are widened to fp32 and the result is rounded once. `auto` takes ours unless this CPU
 * has only the plain C microkernel. */
#include "ops/cpu/matmul_cpu.h"

#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/matmul.h"

#include <string.h>

const Microkernel *matmul_kernel(const Plan *plan, const Node *node)
{
    const DType a = plan_in(plan, node, 0)->dtype, b = plan_in(plan, node, 1)->dtype;
    const Microkernel *kernel = a == b ? microkernel_find(a) : NULL;
    return kernel ? kernel : microkernel_find(DT_F32);
}

const Microkernel *matmul_flash_kernel(const Plan *plan, const Node *node)
{
    bool bf16 = true;
    const int heads = node->op == OP_attention ? 3 : 4;
    for (int i = 0; i < heads; i++) bf16 = bf16 && plan_in(plan, node, i)->dtype == DT_BF16;
    const Microkernel *kernel = bf16 ? microkernel_find(DT_BF16) : NULL;
    return kernel ? kernel : microkernel_find(DT_F32);
}

/* ---- our own GEMM ---- */

/* Without memory where `call` is NULL: for workspaces. */
static GemmOperands operands(const Plan *plan, const Node *node, const OpCall *call)
{
    const Tensor *c = plan_out(plan, node, 0), *a = plan_in(plan, node, 0),
                 *b = plan_in(plan, node, 1);
    return (GemmOperands){.c = call ? element_out(call, 0) : element_operand(NULL, c),
                          .a = call ? element_in(call, 0) : element_operand(NULL, a),
                          .b = call ? element_in(call, 1) : element_operand(NULL, b),
                          .transpose_a = node->attr.transpose_a,
                          .transpose_b = node->attr.transpose_b,
                          .scale = 1,
                          .accumulate = node->attr.accumulate,
                          .bias = call ? element_in(call, MATMUL_IN_BIAS) : (Operand){0}};
}

static size_t own_workspace(const Plan *plan, const Node *node, int threads)
{
    const GemmOperands x = operands(plan, node, NULL);
    const GemmPlan p = gemm_plan(matmul_kernel(plan, node), &x);
    return gemm_workspace(&p, threads);
}

static Status run_own(const OpCall *call)
{
    const GemmOperands x = operands(call->plan, call->node, call);
    const GemmPlan p = gemm_plan(matmul_kernel(call->plan, call->node), &x);
    gemm_multiply(&p, call->workspace, call->threads);
    return ST_OK;
}

/* ---- the BLAS library ---- */

/* Of a copy in fp32: none where the operand is not 16 bit. */
static size_t wide_bytes(Operand x)
{
    const bool wide = x.dtype == DT_F32 || x.dtype == DT_F64;
    return wide ? 0 : (size_t)i64_round_up(x.rows * x.cols * (int64_t)sizeof(float), 256);
}

size_t matmul_blas_workspace(const GemmOperands *x)
{
    return wide_bytes(x->c) + wide_bytes(x->a) + wide_bytes(x->b);
}

/* The operand itself, or memory for a copy in fp32. */
static Operand widened(Operand x, char **workspace_left)
{
    if (wide_bytes(x) == 0) return x;
    const Operand wide = {*workspace_left, DT_F32, x.rows, x.cols, x.cols};
    *workspace_left += wide_bytes(x);
    return wide;
}

typedef struct Conversion {
    Operand to, from; /* one of the two is fp32 */
} Conversion;

static void convert_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const Conversion *c = data;
    (void)thread;
    for (int64_t i = first; i < last; i++) {
        rows_cpu_convert(operand_cpu_at(c->to, i, 0), c->to.dtype, operand_cpu_at(c->from, i, 0),
                         c->from.dtype, c->to.cols);
    }
}

void matmul_convert(Operand to, Operand from, int threads)
{
    if (to.data == from.data) return;
    thread_team_for(threads, to.rows, 8, convert_rows, &(Conversion){to, from});
}

/* What the library adds the product to: the bias, c, or both. */
static void begin_row(const GemmOperands *x, Operand sums, int64_t row)
{
    void *to = operand_cpu_at(sums, row, 0);
    if (sums.dtype == DT_F64) {
        double *sum = to;
        const double *bias = x->bias.data;
        for (int64_t j = 0; j < sums.cols; j++) sum[j] = x->accumulate ? sum[j] + bias[j] : bias[j];
    } else if (!x->accumulate) {
        rows_cpu_load(to, x->bias.data, x->bias.dtype, sums.cols);
    } else {
        if (sums.data != x->c.data)
            rows_cpu_load(to, operand_cpu_at(x->c, row, 0), x->c.dtype, sums.cols);
        if (x->bias.data) rows_cpu_add_row(to, x->bias.data, x->bias.dtype, sums.cols);
    }
}

typedef struct Beginning {
    const GemmOperands *x;
    Operand sums;
} Beginning;

static void begin_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const Beginning *b = data;
    (void)thread;
    for (int64_t i = first; i < last; i++) begin_row(b->x, b->sums, i);
}

void matmul_blas(const GemmOperands *x, void *workspace, int threads)
{
    char *left = workspace;
    GemmOperands wide = *x;
    wide.c = widened(x->c, &left);
    wide.a = widened(x->a, &left);
    wide.b = widened(x->b, &left);
    matmul_convert(wide.a, x->a, threads);
    matmul_convert(wide.b, x->b, threads);
    wide.accumulate = x->accumulate || x->bias.data;
    if (x->bias.data || (x->accumulate && wide.c.data != x->c.data))
        thread_team_for(threads, x->c.rows, 8, begin_rows, &(Beginning){x, wide.c});
    blas_cpu_gemm(&wide);
    matmul_convert(x->c, wide.c, threads);
}

static size_t blas_workspace(const Plan *plan, const Node *node, int threads)
{
    const GemmOperands x = operands(plan, node, NULL);
    (void)threads;
    return matmul_blas_workspace(&x);
}

static Status run_blas(const OpCall *call)
{
    const GemmOperands x = operands(call->plan, call->node, call);
    blas_cpu_set_threads(call->threads);
    matmul_blas(&x, call->workspace, call->threads);
    return ST_OK;
}

/* Where we have more than plain C, ours is at least as fast as BLIS and OpenBLAS as they are
 * installed, on every shape of a step (docs/performance.md; OpenBLAS that is told of its AVX-512
 * kernels is up to a sixth ahead on some), and takes 16-bit operands as they are, of which a
 * library needs copies in fp32. */
const char *matmul_own_declines(const Plan *plan, const Node *node)
{
    if (matmul_kernel(plan, node) == &microkernel_plain)
        return "the BLAS library is faster than plain C";
    return rows_cpu_declines_f64(plan, node);
}

static bool named(const OpImpl *impl, const char *name)
{
    return strcmp(impl->name, name) == 0;
}

void matmul_by(const Plan *plan, const Node *node, const OpImpl *impl, Text *out)
{
    const bool automatic = named(impl, "auto") && !matmul_own_declines(plan, node);
    if (named(impl, "flash")) {
        text_printf(out, "own %s", matmul_flash_kernel(plan, node)->name);
    } else if (automatic || named(impl, "own")) {
        text_printf(out, "own %s", matmul_kernel(plan, node)->name);
    } else {
        text_puts(out, blas_cpu_name());
    }
}

/* The float64 reference of a step would take minutes with plain loops. */
static const char *declines_all_but_f64(const Plan *plan, const Node *node)
{
    const Tensor *bias = plan_in(plan, node, MATMUL_IN_BIAS);
    const bool all = plan_out(plan, node, 0)->dtype == DT_F64 &&
                     plan_in(plan, node, 0)->dtype == DT_F64 &&
                     plan_in(plan, node, 1)->dtype == DT_F64 && (!bias || bias->dtype == DT_F64);
    return all ? NULL : "for float64 alone";
}

const OpImpl matmul_cpu[] = {
    {"auto", matmul_own_declines, own_workspace, run_own},
    {"auto", rows_cpu_declines_f64, blas_workspace, run_blas},
    {"own", rows_cpu_declines_f64, own_workspace, run_own},
    {"blas", rows_cpu_declines_f64, blas_workspace, run_blas},
    {.name = "blas_f64", .declines = declines_all_but_f64, .run = run_blas},
    {0}};
