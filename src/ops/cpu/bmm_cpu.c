/* The matrix multiplications of attention, one for every head: by our GEMM, or by the BLAS library
 * where this CPU has only the plain C microkernel. Each thread takes whole heads of the result; the
 * last ones, fewer than threads, are shared. Where a head of the result is the sum over a group's
 * products (dk, dv), these are added in fp32, one after the other, and rounded at the end. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/matmul_cpu.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/head_matrix.h"
#include "ops/simd_cpu/rows_cpu.h"

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

/* Heads of the result. */
static int64_t results(const Heads *h)
{
    return h->c.count / h->c.group;
}

/* Of the fp32 sum of a group's products: none where it is the result itself. */
static size_t sum_bytes(const Heads *h)
{
    if (h->c.group == 1 || h->c.dtype == DT_F32) return 0;
    return (size_t)i64_round_up(h->c.rows * h->c.cols * (int64_t)sizeof(float), 64);
}

static Operand wide_sum(const Heads *h, float *sum)
{
    return (Operand){sum, DT_F32, h->c.rows, h->c.cols, h->c.cols};
}

/* The product of head i of q, into its place or added to its group's sum there or at `sum`. */
static GemmOperands operands_of(const Heads *h, int64_t i, float *sum)
{
    return (GemmOperands){.c = sum_bytes(h) ? wide_sum(h, sum) : head_matrix_operand(&h->c, i, 0),
                          .a = head_matrix_operand(&h->a, i, 0),
                          .b = head_matrix_operand(&h->b, i, 0),
                          .transpose_a = h->attr->transpose_a,
                          .transpose_b = h->attr->transpose_b,
                          .scale = (float)h->attr->scale,
                          .accumulate = i % h->c.group > 0};
}

typedef void Multiply(const OpCall *call, const GemmOperands *x, void *workspace, int threads);

/* Head `result` of c. */
static void run_head(const OpCall *call, const Heads *h, int64_t result, Multiply *multiply,
                     char *workspace, int threads)
{
    const int64_t first = result * h->c.group;
    const size_t wide = sum_bytes(h);
    float *sum = (float *)(void *)workspace;
    for (int64_t i = first; i < first + h->c.group; i++) {
        const GemmOperands x = operands_of(h, i, sum);
        multiply(call, &x, workspace + wide, threads);
    }
    if (wide == 0) return;
    matmul_convert(head_matrix_operand(&h->c, first, 0), wide_sum(h, sum), threads);
}

/* Heads that threads take one by one. */
typedef struct HeadsApart {
    const OpCall *call;
    Heads heads;
    Multiply *multiply;
    size_t size; /* of a thread's workspace */
} HeadsApart;

static void run_apart(const void *data, int64_t first, int64_t last, int thread)
{
    const HeadsApart *x = data;
    char *workspace = (char *)x->call->workspace + (size_t)thread * x->size;
    for (int64_t i = first; i < last; i++)
        run_head(x->call, &x->heads, i, x->multiply, workspace, 1);
}

/* ---- our own GEMM ---- */

static GemmPlan gemm_of(const Plan *plan, const Node *node, const Heads *h, int64_t i)
{
    const GemmOperands x = operands_of(h, i, NULL);
    return gemm_plan(matmul_kernel(plan, node), &x);
}

/* Of a group's first product, of those that are added to it, and of the sum. */
static size_t own_bytes(const Plan *plan, const Node *node, const Heads *h, int threads)
{
    const GemmPlan first = gemm_of(plan, node, h, 0), last = gemm_of(plan, node, h, h->c.group - 1);
    const size_t a = gemm_workspace(&first, threads), b = gemm_workspace(&last, threads);
    return (a > b ? a : b) + sum_bytes(h);
}

static void multiply_own(const OpCall *call, const GemmOperands *x, void *workspace, int threads)
{
    const GemmPlan p = gemm_plan(matmul_kernel(call->plan, call->node), x);
    gemm_multiply(&p, workspace, threads);
}

/* How many heads are shared by threads: none where a head takes less time than a barrier. */
static int64_t shared_heads(const Plan *plan, const Node *node, const Heads *h, int threads)
{
    enum { WORTH_SHARING = 1 << 20 };
    const GemmPlan p = gemm_of(plan, node, h, 0);
    return p.m * p.n >= WORTH_SHARING / p.k ? results(h) % threads : 0;
}

static size_t own_workspace(const Plan *plan, const Node *node, int threads)
{
    const Heads h = heads_of(plan, node, NULL);
    const int64_t shared = shared_heads(plan, node, &h, threads);
    const size_t apart = shared < results(&h) ? (size_t)threads * own_bytes(plan, node, &h, 1) : 0;
    const size_t together = shared > 0 ? own_bytes(plan, node, &h, threads) : 0;
    return apart > together ? apart : together;
}

static Status run_own(const OpCall *call)
{
    const Heads h = heads_of(call->plan, call->node, call);
    const int64_t apart = results(&h) - shared_heads(call->plan, call->node, &h, call->threads);
    const HeadsApart x = {call, h, multiply_own, own_bytes(call->plan, call->node, &h, 1)};
    thread_team_for(call->threads, apart, 1, run_apart, &x);
    for (int64_t i = apart; i < results(&h); i++)
        run_head(call, &h, i, multiply_own, call->workspace, call->threads);
    return ST_OK;
}

/* ---- the BLAS library ---- */

static void multiply_blas(const OpCall *call, const GemmOperands *x, void *workspace, int threads)
{
    (void)call;
    matmul_blas(x, workspace, threads);
}

static size_t blas_workspace(const Plan *plan, const Node *node, int threads)
{
    const Heads h = heads_of(plan, node, NULL);
    const GemmOperands x = operands_of(&h, 0, NULL);
    return (size_t)threads * (matmul_blas_workspace(&x) + sum_bytes(&h));
}

static Status run_blas(const OpCall *call)
{
    const HeadsApart x = {call, heads_of(call->plan, call->node, call), multiply_blas,
                          blas_workspace(call->plan, call->node, 1)};
    blas_cpu_set_threads(1);
    thread_team_for(call->threads, results(&x.heads), 1, run_apart, &x);
    return ST_OK;
}

const OpImpl bmm_cpu[] = {{"auto", matmul_own_declines, own_workspace, run_own},
                          {"auto", rows_cpu_declines_f64, blas_workspace, run_blas},
                          {"own", rows_cpu_declines_f64, own_workspace, run_own},
                          {"blas", rows_cpu_declines_f64, blas_workspace, run_blas},
                          {0}};
