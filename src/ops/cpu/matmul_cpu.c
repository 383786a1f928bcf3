/* Matrix multiplications of linear layers: our own GEMM, or the system's BLAS, for which 16-bit operands are widened to
 * fp32 and the result is rounded once. `auto` takes ours unless this CPU has only the plain C microkernel. */
#include "ops/cpu/matmul_cpu.h"

#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/gemm_cpu/gemm_cpu.h"
#include "ops/simd_cpu/rows_cpu.h"

#include <string.h>

static size_t wide_bytes(const Tensor *t)
{
    const size_t bytes = (size_t)plan_elements(t) * sizeof(float);
    return t->dtype == DT_F32 ? 0 : (size_t)i64_round_up((int64_t)bytes, 256);
}

static size_t blas_workspace(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    return wide_bytes(plan_out(plan, node, 0)) + wide_bytes(plan_in(plan, node, 0)) +
           wide_bytes(plan_in(plan, node, 1));
}

/* All rows of `t` as floats, next to each other. */
static void widen(float *dst, const void *src, const Tensor *t, int threads)
{
    const int64_t rows = plan_rows(t), width = plan_width(t);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (int64_t i = 0; i < rows; i++) {
        rows_cpu_load(dst + i * width, rows_cpu_at(src, t->dtype, i * t->ld), t->dtype, width);
    }
}

static void narrow(void *dst, const float *src, const Tensor *t, int threads)
{
    const int64_t rows = plan_rows(t), width = plan_width(t);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (int64_t i = 0; i < rows; i++) {
        rows_cpu_store(rows_cpu_at(dst, t->dtype, i * t->ld), src + i * width, t->dtype, width);
    }
}

typedef struct Side {
    float *data;
    int64_t ld;
} Side;

/* The operand itself when it is fp32, else its share of the workspace. */
static Side side(void *data, const Tensor *t, char **workspace_left)
{
    if (t->dtype == DT_F32) return (Side){data, t->ld};
    const Side s = {(float *)*workspace_left, plan_width(t)};
    *workspace_left += wide_bytes(t);
    return s;
}

static Status run_blas(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const Tensor *c = op_out_shape(call, 0), *a = op_in_shape(call, 0), *b = op_in_shape(call, 1);
    char *left = call->workspace;
    const Side to = side(op_out(call, 0), c, &left);
    const Side x = side(call->memory[plan_in_id(call->plan, call->node, 0)], a, &left);
    const Side y = side(call->memory[plan_in_id(call->plan, call->node, 1)], b, &left);
    if (a->dtype != DT_F32) widen(x.data, op_in(call, 0), a, call->threads);
    if (b->dtype != DT_F32) widen(y.data, op_in(call, 1), b, call->threads);
    blas_cpu_set_threads(call->threads);
    blas_cpu_sgemm(attr->transpose_a, attr->transpose_b, plan_rows(c), plan_width(c),
                   attr->transpose_a ? plan_rows(a) : plan_width(a), 1, x.data, x.ld, y.data, y.ld,
                   0, to.data, to.ld);
    if (c->dtype != DT_F32) narrow(op_out(call, 0), to.data, c, call->threads);
    return ST_OK;
}

/* ---- our own ---- */

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

static PackSource source(const Tensor *t, const void *data, bool lines_are_rows)
{
    return (PackSource){data, t->dtype, lines_are_rows ? t->ld : 1, lines_are_rows ? 1 : t->ld};
}

static GemmPlan packed(const Plan *plan, const Node *node)
{
    const NodeAttr *attr = &node->attr;
    const Tensor *c = plan_out(plan, node, 0), *a = plan_in(plan, node, 0);
    return (GemmPlan){.kernel = matmul_kernel(plan, node),
                      .m = plan_rows(c),
                      .n = plan_width(c),
                      .k = attr->transpose_a ? plan_rows(a) : plan_width(a),
                      .a = source(a, NULL, !attr->transpose_a),
                      .b = source(plan_in(plan, node, 1), NULL, attr->transpose_b),
                      .scale = 1,
                      .c_dtype = c->dtype,
                      .ldc = c->ld};
}

static size_t own_workspace(const Plan *plan, const Node *node, int threads)
{
    const GemmPlan p = packed(plan, node);
    return gemm_workspace(&p, threads);
}

static Status run_own(const OpCall *call)
{
    GemmPlan p = packed(call->plan, call->node);
    p.a.data = op_in(call, 0);
    p.b.data = op_in(call, 1);
    p.c = op_out(call, 0);
    gemm_multiply(&p, call->workspace, call->threads);
    return ST_OK;
}

/* Where we have more than plain C, ours is at least as fast as BLIS and OpenBLAS as they are installed, on every
 * shape of a step (docs/performance.md; OpenBLAS that is told of its AVX-512 kernels is up to a sixth ahead on some),
 * and takes 16-bit operands as they are, of which a library needs copies in fp32. */
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
    const bool all = plan_out(plan, node, 0)->dtype == DT_F64 &&
                     plan_in(plan, node, 0)->dtype == DT_F64 &&
                     plan_in(plan, node, 1)->dtype == DT_F64;
    return all ? NULL : "for float64 alone";
}

static Status run_f64(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const Tensor *c = op_out_shape(call, 0), *a = op_in_shape(call, 0), *b = op_in_shape(call, 1);
    blas_cpu_set_threads(call->threads);
    blas_cpu_dgemm(attr->transpose_a, attr->transpose_b, plan_rows(c), plan_width(c),
                   attr->transpose_a ? plan_rows(a) : plan_width(a), 1, op_in(call, 0), a->ld,
                   op_in(call, 1), b->ld, 0, op_out(call, 0), c->ld);
    return ST_OK;
}

const OpImpl matmul_cpu[] = {{"auto", matmul_own_declines, own_workspace, run_own},
                             {"auto", rows_cpu_declines_f64, blas_workspace, run_blas},
                             {"own", rows_cpu_declines_f64, own_workspace, run_own},
                             {"blas", rows_cpu_declines_f64, blas_workspace, run_blas},
                             {.name = "blas_f64", .declines = declines_all_but_f64, .run = run_f64},
                             {0}};
