/* One expert after the other, each a GEMM of all threads, whose blocks go to threads as they become free.
 * Long groups are cut: the workspace is that of a part, whatever the groups turn out to be. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/matmul_cpu.h"
#include "ops/cpu/operand_cpu.h"

#include <string.h>

enum { IN_FIRST = 2, PART = 512 }; /* rows of a group at a time */

/* Rows [begin, end) of an operand. */
static Operand rows_of(Operand x, int64_t begin, int64_t end)
{
    if (x.data) x.data = operand_cpu_at(x, begin, 0);
    x.rows = end - begin;
    return x;
}

/* The operands of the node; without memory where `call` is NULL. */
typedef struct Groups {
    Operand c, a, b;
    const int32_t *first;
    int64_t experts;
    bool transpose_b;
    const Microkernel *kernel;
} Groups;

static Groups groups_of(const Plan *plan, const Node *node, const OpCall *call)
{
    const Tensor *c = plan_out(plan, node, 0), *a = plan_in(plan, node, 0),
                 *b = plan_in(plan, node, 1);
    return (Groups){.c = call ? element_out(call, 0) : element_operand(NULL, c),
                    .a = call ? element_in(call, 0) : element_operand(NULL, a),
                    .b = call ? element_in(call, 1) : element_operand(NULL, b),
                    .first = call ? op_in(call, IN_FIRST) : NULL,
                    .experts = plan_elements(plan_in(plan, node, IN_FIRST)) - 1,
                    .transpose_b = node->attr.transpose_b,
                    .kernel = matmul_kernel(plan, node)};
}

/* ---- c = a op(b), rows [begin, end) by the matrix of expert e ---- */

static GemmPlan product(const Groups *g, int64_t e, int64_t begin, int64_t end)
{
    const int64_t each = g->b.rows / g->experts;
    const GemmOperands x = {.c = rows_of(g->c, begin, end),
                            .a = rows_of(g->a, begin, end),
                            .b = rows_of(g->b, e * each, (e + 1) * each),
                            .transpose_b = g->transpose_b,
                            .scale = 1};
    return gemm_plan(g->kernel, &x);
}

/* What the workspace of a product depends on. */
typedef struct Shape {
    const Microkernel *kernel;
    int64_t rows, n, k;
    int threads;
    bool transpose_b;
    size_t bytes;
} Shape;

/* A group may end in a part of any length. */
static size_t most_bytes(const Groups *g, int64_t longest, int threads)
{
    size_t most = 0;
    for (int64_t rows = 1; rows <= longest; rows++) {
        const GemmPlan p = product(g, 0, 0, rows);
        const size_t bytes = gemm_workspace(&p, threads);
        if (bytes > most) most = bytes;
    }
    return most;
}

/* Every layer asks the same, and a search for what fits asks often: the last answers are kept. */
static size_t workspace(const Plan *plan, const Node *node, int threads)
{
    enum { KEPT = 8 };
    static _Thread_local Shape kept[KEPT];
    static _Thread_local int next;
    const Groups g = groups_of(plan, node, NULL);
    const int64_t longest = i64_min(PART, g.c.rows);
    for (int i = 0; i < KEPT; i++) {
        const Shape *s = &kept[i];
        if (s->kernel == g.kernel && s->rows == longest && s->n == g.c.cols && s->k == g.a.cols &&
            s->threads == threads && s->transpose_b == g.transpose_b)
            return s->bytes;
    }
    const size_t bytes = most_bytes(&g, longest, threads);
    kept[next++ % KEPT] =
        (Shape){g.kernel, longest, g.c.cols, g.a.cols, threads, g.transpose_b, bytes};
    return bytes;
}

static Status run(const OpCall *call)
{
    const Groups g = groups_of(call->plan, call->node, call);
    for (int64_t e = 0; e < g.experts; e++) {
        for (int64_t row = g.first[e]; row < g.first[e + 1]; row += PART) {
            const GemmPlan p = product(&g, e, row, i64_min(row + PART, g.first[e + 1]));
            gemm_multiply(&p, call->workspace, call->threads);
        }
    }
    return ST_OK;
}

/* ---- db_e = dc^T a over the rows [begin, end) ---- */

static GemmPlan gradient(const Groups *g, int64_t e, int64_t begin, int64_t end)
{
    const int64_t each = g->c.rows / g->experts;
    const GemmOperands x = {.c = rows_of(g->c, e * each, (e + 1) * each),
                            .a = rows_of(g->a, begin, end),
                            .b = rows_of(g->b, begin, end),
                            .transpose_a = true,
                            .scale = 1};
    return gemm_plan(g->kernel, &x);
}

/* Panels that threads share grow with k, which is a group's rows; those of one thread hold one pass over k at
 * most, and all passes are longest where k is a multiple of that. The blocks are the same whatever k is. */
static size_t workspace_grad(const Plan *plan, const Node *node, int threads)
{
    Groups g = groups_of(plan, node, NULL);
    size_t most = 0;
    for (; g.kernel; g.kernel = g.kernel->fallback) {
        const int64_t rows = i64_round_up(g.a.rows, gemm_blocking_longest_pass(g.kernel));
        const GemmPlan p = gradient(&g, 0, 0, rows);
        const size_t bytes = gemm_workspace(&p, threads);
        if (bytes > most) most = bytes;
    }
    return most;
}

static void clear_rows(const void *data, int64_t begin, int64_t end, int thread)
{
    const Operand *x = data;
    (void)thread;
    memset(operand_cpu_at(*x, begin, 0), 0,
           (size_t)((end - begin) * x->cols) * plan_dtype_size(x->dtype));
}

static Status run_grad(const OpCall *call)
{
    const Groups g = groups_of(call->plan, call->node, call);
    const int64_t each = g.c.rows / g.experts;
    for (int64_t e = 0; e < g.experts; e++) {
        if (g.first[e] == g.first[e + 1]) {
            const Operand none = rows_of(g.c, e * each, (e + 1) * each);
            thread_team_for(call->threads, each, 64, clear_rows, &none);
            continue;
        }
        const GemmPlan p = gradient(&g, e, g.first[e], g.first[e + 1]);
        gemm_multiply(&p, call->workspace, call->threads);
    }
    return ST_OK;
}

const OpImpl grouped_matmul_cpu[] = {{"grouped_matmul_cpu", rows_cpu_declines_f64, workspace, run},
                                     {0}};
const OpImpl grouped_matmul_grad_cpu[] = {
    {"grouped_matmul_grad_cpu", rows_cpu_declines_f64, workspace_grad, run_grad}, {0}};
