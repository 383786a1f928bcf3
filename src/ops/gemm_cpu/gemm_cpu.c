#include "ops/gemm_cpu/gemm_cpu.h"

#include "backend/thread_team.h"
#include "ops/gemm_cpu/gemm_parts_cpu.h"

GemmPlan gemm_plan(const Microkernel *kernel, const GemmOperands *x)
{
    return (GemmPlan){.kernel = kernel,
                      .m = x->c.rows,
                      .n = x->c.cols,
                      .k = gemm_operands_k(x),
                      .a = x->transpose_a ? pack_cpu_columns(x->a) : pack_cpu_rows(x->a),
                      .b = x->transpose_b ? pack_cpu_rows(x->b) : pack_cpu_columns(x->b),
                      .scale = x->scale,
                      .accumulate = x->accumulate,
                      .bias = x->bias.data,
                      .bias_dtype = x->bias.dtype,
                      .c = x->c.data,
                      .c_dtype = x->c.dtype,
                      .ldc = x->c.ld};
}

/* Where each part of the workspace begins. Shared panels of a come first. */
typedef struct Layout {
    int64_t b;                        /* shared panels of b */
    int64_t sums, private_panels;     /* of all threads */
    int64_t sum_bytes, private_bytes; /* of one thread */
    int64_t private_b; /* from the start of a thread's private panels, where those of a are */
    int64_t bytes;
} Layout;

static int64_t panel_bytes(const GemmBlocking *b, int64_t lines, int64_t k)
{
    enum { CACHE_LINE = 64 };
    return i64_round_up(lines * k * b->number_bytes, CACHE_LINE);
}

static Layout layout(const GemmPlan *p, const GemmBlocking *b, int threads)
{
    const bool private_a = b->private_panels & PRIVATE_A, private_b = b->private_panels & PRIVATE_B;
    const int64_t kc = i64_min(b->k, b->kc);
    const int64_t a_bytes = private_a ? 0 : panel_bytes(b, i64_round_up(p->m, p->kernel->mr), b->k);
    const int64_t b_bytes = private_b ? 0 : panel_bytes(b, i64_round_up(p->n, p->kernel->nr), b->k);
    Layout l = {.b = a_bytes,
                .sums = a_bytes + b_bytes,
                .sum_bytes = gemm_macrokernel_bytes(p, b),
                .private_b = private_a ? panel_bytes(b, b->mc, kc) : 0};
    l.private_bytes = l.private_b + (private_b ? panel_bytes(b, b->nc, kc) : 0);
    l.private_panels = l.sums + threads * l.sum_bytes;
    l.bytes = l.private_panels + threads * l.private_bytes;
    return l;
}

/* The same GEMM by the kernel that takes every number. */
static GemmPlan with_fallback(const GemmPlan *p)
{
    GemmPlan other = *p;
    other.kernel = p->kernel->fallback;
    return other;
}

size_t gemm_workspace(const GemmPlan *p, int threads)
{
    const GemmBlocking blocking = gemm_blocking(p, threads);
    const size_t bytes = (size_t)layout(p, &blocking, threads).bytes;
    if (!p->kernel->fallback) return bytes;
    const GemmPlan other = with_fallback(p);
    const size_t needs = gemm_workspace(&other, threads);
    return needs > bytes ? needs : bytes;
}

/* Where a product is added to c, no block may be stored before all is packed (gemm_blocking()). */
static bool is_unpackable(const GemmPlan *p)
{
    return p->a.unpackable && __atomic_load_n(p->a.unpackable, __ATOMIC_RELAXED);
}

/* A GEMM that threads compute together: they pack the shared panels, then multiply blocks. */
typedef struct Shared {
    Gemm all;
    Layout layout;
    char *workspace;
    GemmPackTasks tasks;
    int64_t *next_task;
    GemmQueues *queues;
} Shared;

static void multiply_share(const void *data, int thread, int threads)
{
    const Shared *s = data;
    const Layout *l = &s->layout;
    char *panels = s->workspace + l->private_panels + thread * l->private_bytes;
    float *sums = (float *)(void *)(s->workspace + l->sums + thread * l->sum_bytes);
    Gemm g = s->all;
    if (g.a.is_private) g.a.panels = panels;
    if (g.b.is_private) g.b.panels = panels + l->private_b;
    for (int64_t i; (i = __atomic_fetch_add(s->next_task, 1, __ATOMIC_RELAXED)) < s->tasks.n;)
        gemm_pack_task(&s->all, &s->tasks, i);
    if (s->tasks.n > 0) thread_team_barrier(threads);
    if (g.plan->accumulate && is_unpackable(g.plan)) return;
    for (int64_t i, turn = 0; (i = gemm_blocking_next(s->queues, thread, &turn)) >= 0;)
        gemm_macrokernel(&g, i, sums);
}

static void multiply(const GemmPlan *p, char *workspace, int threads)
{
    const Microkernel *kernel = p->kernel;
    Gemm all = {.plan = p, .blocking = gemm_blocking(p, threads)};
    const PrivatePanels private_panels = all.blocking.private_panels;
    const Layout l = layout(p, &all.blocking, threads);
    all.a = (GemmOperand){
        &p->a, kernel->pack_a, workspace, p->m, kernel->mr, private_panels & PRIVATE_A, 0};
    all.b = (GemmOperand){
        &p->b, kernel->pack_b, workspace + l.b, p->n, kernel->nr, private_panels & PRIVATE_B, 0};
    const GemmPackTasks tasks = gemm_pack_tasks(&all, threads);
    GemmQueues queues = gemm_blocking_queues(&all.blocking);
    int64_t next_task = 0;
    thread_team_run(threads, multiply_share,
                    &(Shared){all, l, workspace, tasks, &next_task, &queues});
}

void gemm_multiply(const GemmPlan *p, void *workspace, int threads)
{
    bool unpackable = false;
    GemmPlan watched = *p;
    watched.a.unpackable = watched.b.unpackable = &unpackable;
    multiply(&watched, workspace, threads);
    if (!unpackable) return;
    const GemmPlan other = with_fallback(p);
    multiply(&other, workspace, threads);
}
