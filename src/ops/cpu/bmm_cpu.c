/* The matrix multiplications of attention, one for every head: by our GEMM, or by the BLAS library
 * where this CPU has only the plain C microkernel. Each thread takes whole heads; the last heads,
 * fewer than threads, are shared. */
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/matmul_cpu.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/head_matrix.h"

typedef struct Heads {
    HeadMatrix c, a, b;
    const NodeAttr *attr;
} Heads;

/* `call` is NULL before there is memory. */
static Heads heads_of(const Plan *plan, const Node *node, const OpCall *call)
{
    const NodeAttr *attr = &node->attr;
    return (Heads){head_matrix(plan_out(plan, node, 0), call ? op_out(call, 0) : NULL, attr),
                   head_matrix(plan_in(plan, node, 0), call ? op_in(call, 0) : NULL, attr),
                   head_matrix(plan_in(plan, node, 1), call ? op_in(call, 1) : NULL, attr), attr};
}

static GemmOperands operands_of(const Heads *h, int64_t i)
{
    return (GemmOperands){.c = head_matrix_operand(&h->c, i, 0),
                          .a = head_matrix_operand(&h->a, i, 0),
                          .b = head_matrix_operand(&h->b, i, 0),
                          .transpose_a = h->attr->transpose_a,
                          .transpose_b = h->attr->transpose_b,
                          .scale = (float)h->attr->scale};
}

/* ---- our own GEMM ---- */

static GemmPlan gemm_of(const Plan *plan, const Node *node, const Heads *h, int64_t i)
{
    const GemmOperands x = operands_of(h, i);
    return gemm_plan(matmul_kernel(plan, node), &x);
}

/* How many heads are shared by threads: none where a head takes less time than a barrier. */
static int64_t shared_heads(const GemmPlan *p, const Heads *h, int threads)
{
    enum { WORTH_SHARING = 1 << 20 };
    return p->m * p->n >= WORTH_SHARING / p->k ? h->c.count % threads : 0;
}

static size_t own_workspace(const Plan *plan, const Node *node, int threads)
{
    const Heads h = heads_of(plan, node, NULL);
    const GemmPlan p = gemm_of(plan, node, &h, 0);
    const int64_t shared = shared_heads(&p, &h, threads);
    const size_t apart = shared < h.c.count ? (size_t)threads * gemm_workspace(&p, 1) : 0;
    const size_t together = shared > 0 ? gemm_workspace(&p, threads) : 0;
    return apart > together ? apart : together;
}

/* Heads that threads take one by one. */
typedef struct HeadsApart {
    const OpCall *call;
    Heads heads;
    size_t size; /* of a thread's workspace */
} HeadsApart;

static void run_own_heads(const void *data, int64_t first, int64_t last, int thread)
{
    const HeadsApart *x = data;
    char *workspace = (char *)x->call->workspace + (size_t)thread * x->size;
    for (int64_t i = first; i < last; i++) {
        const GemmPlan p = gemm_of(x->call->plan, x->call->node, &x->heads, i);
        gemm_multiply(&p, workspace, 1);
    }
}

static Status run_own(const OpCall *call)
{
    const Heads h = heads_of(call->plan, call->node, call);
    const GemmPlan any = gemm_of(call->plan, call->node, &h, 0);
    const int64_t apart = h.c.count - shared_heads(&any, &h, call->threads);
    thread_team_for(call->threads, apart, 1, run_own_heads,
                    &(HeadsApart){call, h, gemm_workspace(&any, 1)});
    for (int64_t i = apart; i < h.c.count; i++) {
        const GemmPlan p = gemm_of(call->plan, call->node, &h, i);
        gemm_multiply(&p, call->workspace, call->threads);
    }
    return ST_OK;
}

/* ---- the BLAS library ---- */

static size_t blas_workspace(const Plan *plan, const Node *node, int threads)
{
    const Heads h = heads_of(plan, node, NULL);
    const GemmOperands x = operands_of(&h, 0);
    return (size_t)threads * matmul_blas_workspace(&x);
}

static void run_blas_heads(const void *data, int64_t first, int64_t last, int thread)
{
    const HeadsApart *x = data;
    char *workspace = (char *)x->call->workspace + (size_t)thread * x->size;
    for (int64_t i = first; i < last; i++) {
        const GemmOperands operands = operands_of(&x->heads, i);
        matmul_blas(&operands, workspace, 1);
    }
}

static Status run_blas(const OpCall *call)
{
    const HeadsApart x = {call, heads_of(call->plan, call->node, call),
                          blas_workspace(call->plan, call->node, 1)};
    blas_cpu_set_threads(1);
    thread_team_for(call->threads, x.heads.c.count, 1, run_blas_heads, &x);
    return ST_OK;
}

const OpImpl bmm_cpu[] = {{"auto", matmul_own_declines, own_workspace, run_own},
                          {"auto", rows_cpu_declines_f64, blas_workspace, run_blas},
                          {"own", rows_cpu_declines_f64, own_workspace, run_own},
                          {"blas", rows_cpu_declines_f64, blas_workspace, run_blas},
                          {0}};
