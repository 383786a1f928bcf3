/* The products of attention: our own packed ones, or, where we have plain C alone, those of the system's BLAS,
 * for which 16-bit heads are widened into the thread's workspace. A head is one thread's; the last ones, fewer
 * than threads, are shared. */
#include "ops/cpu/head_rows_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/matmul_cpu.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/gemm_cpu/gemm_cpu.h"

/* ---- our own ---- */

typedef struct Heads {
    const Plan *plan;
    const Node *node;
    HeadMatrix c, a, b;
} Heads;

static Heads heads_of(const Plan *plan, const Node *node)
{
    const NodeAttr *attr = &node->attr;
    return (Heads){plan, node, head_matrix(plan_out(plan, node, 0), NULL, attr),
                   head_matrix(plan_in(plan, node, 0), NULL, attr),
                   head_matrix(plan_in(plan, node, 1), NULL, attr)};
}

/* Nothing where the matrix has no memory yet. */
static PackSource source(const HeadMatrix *h, int64_t i, bool lines_are_rows)
{
    if (!h->data) return (PackSource){0};
    return lines_are_rows ? head_rows_cpu_lines(h, i, 0) : head_rows_cpu_columns(h, i, 0);
}

static GemmPlan product_of(const Heads *h, int64_t i)
{
    const NodeAttr *attr = &h->node->attr;
    const HeadMatrix *c = &h->c;
    return (GemmPlan){.kernel = matmul_kernel(h->plan, h->node),
                      .m = c->rows,
                      .n = c->cols,
                      .k = attr->transpose_a ? h->a.rows : h->a.cols,
                      .a = source(&h->a, i, !attr->transpose_a),
                      .b = source(&h->b, i, attr->transpose_b),
                      .scale = (float)attr->scale,
                      .c = c->data ? rows_cpu_at(c->data, c->dtype, head_matrix_start(c, i)) : NULL,
                      .c_dtype = c->dtype,
                      .ldc = c->ld};
}

/* How many heads threads share: not those that are multiplied before threads have met. */
static int64_t shared_heads(const Heads *h, int threads)
{
    enum { WORTH_MEETING = 1 << 20 };
    const GemmPlan p = product_of(h, 0);
    return p.m * p.n >= WORTH_MEETING / p.k ? h->c.count % threads : 0;
}

static size_t own_workspace(const Plan *plan, const Node *node, int threads)
{
    const Heads h = heads_of(plan, node);
    const GemmPlan p = product_of(&h, 0);
    const int64_t shared = shared_heads(&h, threads);
    const size_t apart = shared < h.c.count ? (size_t)threads * gemm_workspace(&p, 1) : 0;
    const size_t together = shared > 0 ? gemm_workspace(&p, threads) : 0;
    return apart > together ? apart : together;
}

static Status run_own(const OpCall *call)
{
    Heads h = heads_of(call->plan, call->node);
    h.c.data = op_out(call, 0);
    h.a.data = (void *)(uintptr_t)op_in(call, 0);
    h.b.data = (void *)(uintptr_t)op_in(call, 1);
    const GemmPlan any = product_of(&h, 0);
    const size_t size = gemm_workspace(&any, 1);
    const int64_t apart = h.c.count - shared_heads(&h, call->threads);
#pragma omp parallel for schedule(dynamic) num_threads(call->threads)
    for (int64_t i = 0; i < apart; i++) {
        const GemmPlan p = product_of(&h, i);
        gemm_multiply(&p, (char *)call->workspace + (size_t)omp_thread() * size, 1);
    }
    for (int64_t i = apart; i < h.c.count; i++) {
        const GemmPlan p = product_of(&h, i);
        gemm_multiply(&p, call->workspace, call->threads);
    }
    return ST_OK;
}

/* ---- the system's ---- */

static int64_t wide_elements(const Tensor *t, const NodeAttr *attr)
{
    const HeadMatrix m = head_matrix(t, NULL, attr);
    return t->dtype == DT_F32 ? 0 : m.rows * m.cols;
}

static int64_t per_thread(const Plan *plan, const Node *node)
{
    return wide_elements(plan_out(plan, node, 0), &node->attr) +
           wide_elements(plan_in(plan, node, 0), &node->attr) +
           wide_elements(plan_in(plan, node, 1), &node->attr) + 64;
}

static size_t blas_workspace(const Plan *plan, const Node *node, int threads)
{
    return (size_t)threads * (size_t)per_thread(plan, node) * sizeof(float);
}

static void multiply(const HeadMatrix *c, const HeadMatrix *a, const HeadMatrix *b,
                     const NodeAttr *attr, int64_t i, float *buffer)
{
    const int64_t n_a = a->dtype == DT_F32 ? 0 : a->rows * a->cols;
    const int64_t n_b = b->dtype == DT_F32 ? 0 : b->rows * b->cols;
    const HeadRows x = head_rows_cpu_read(a, i, 0, a->rows, buffer);
    const HeadRows y = head_rows_cpu_read(b, i, 0, b->rows, buffer + n_a);
    const HeadRows to = head_rows_cpu_target(c, i, 0, buffer + n_a + n_b);
    blas_cpu_sgemm(attr->transpose_a, attr->transpose_b, c->rows, c->cols,
                   attr->transpose_a ? a->rows : a->cols, (float)attr->scale, x.data, x.ld, y.data,
                   y.ld, 0, to.data, to.ld);
    head_rows_cpu_finish(c, i, 0, c->rows, &to);
}

static Status run_blas(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix c = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr);
    const HeadMatrix a = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr);
    const HeadMatrix b = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr);
    const int64_t size = per_thread(call->plan, call->node);
    blas_cpu_set_threads(call->threads);
#pragma omp parallel for schedule(dynamic) num_threads(call->threads)
    for (int64_t i = 0; i < c.count; i++) {
        multiply(&c, &a, &b, attr, i, (float *)call->workspace + omp_thread() * size);
    }
    return ST_OK;
}

const OpImpl bmm_cpu[] = {{"auto", matmul_own_declines, own_workspace, run_own},
                          {"auto", rows_cpu_declines_f64, blas_workspace, run_blas},
                          {"own", rows_cpu_declines_f64, own_workspace, run_own},
                          {"blas", rows_cpu_declines_f64, blas_workspace, run_blas},
                          {0}};
