#include "ops/gemm_cpu/gemm_parts_cpu.h"

enum {
    TASK_LINES = 192,     /* several cache lines where lines lie together */
    TASK_K = 768,         /* numbers of each line */
    TASK_LESS_K = 128,    /* the same where there would be too few tasks */
    TASKS_PER_THREAD = 4, /* or more, so that the last ones end together */
    K_ACROSS = 16         /* numbers at a time where many lines lie together */
};

/* At most `step` numbers at a time. */
static void pack_in_steps(const Gemm *g, const GemmOperand *x, int64_t first, int64_t end,
                          int64_t k, int64_t end_k, int64_t step)
{
    const int64_t kc = g->blocking.kc;
    while (k < end_k) {
        const int64_t n = i64_min(step, i64_min(kc - k % kc, end_k - k));
        for (int64_t i = first; i < end; i += x->panel) {
            x->pack(gemm_pack_at(&g->blocking, x, i, k), x->source, i,
                    i64_min(x->panel, x->lines - i), k, n);
        }
        k += n;
    }
}

/* Where numbers of a line lie together, one micro-panel after the other: what the hardware
 * prefetches is the rest of those lines. Where lines lie together, a few numbers at a time: what
 * one micro-panel leaves in the cache is what the next one needs. */
void gemm_pack(const Gemm *g, const GemmOperand *x, int64_t first, int64_t end, int64_t k,
               int64_t end_k)
{
    const bool along = x->source->k_step == 1;
    const int64_t step = along ? end_k - k : i64_round_up(K_ACROSS, g->plan->kernel->kr);
    const int64_t lines = along ? x->panel : end - first;
    for (; first < end; first += lines) {
        pack_in_steps(g, x, first, i64_min(first + lines, end), k, end_k, step);
    }
}

static int64_t count(const Gemm *g, const GemmOperand *x, const GemmPackTasks *size)
{
    if (x->is_private) return 0;
    return i64_ceil_div(x->lines, size->lines) * i64_ceil_div(g->plan->k, size->k);
}

/* Long ones, or shorter ones where there would be too few to share. */
GemmPackTasks gemm_pack_tasks(const Gemm *g, int threads)
{
    static const GemmPackTasks sizes[] = {{.lines = TASK_LINES, .k = TASK_K},
                                          {.lines = TASK_LINES, .k = TASK_LESS_K},
                                          {.lines = MICROKERNEL_UNIT, .k = TASK_LESS_K},
                                          {.lines = MICROKERNEL_UNIT, .k = TASK_LESS_K / 2}};
    GemmPackTasks tasks = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tasks = sizes[i];
        tasks.of_a = count(g, &g->a, &tasks);
        tasks.n = tasks.of_a + count(g, &g->b, &tasks);
        if (threads == 1 || tasks.n >= TASKS_PER_THREAD * threads) break;
    }
    return tasks;
}

void gemm_pack_task(const Gemm *g, const GemmPackTasks *tasks, int64_t i)
{
    const GemmOperand *x = i < tasks->of_a ? &g->a : &g->b;
    const int64_t task = i < tasks->of_a ? i : i - tasks->of_a;
    const int64_t deep = i64_ceil_div(g->plan->k, tasks->k);
    const int64_t first = task / deep * tasks->lines, k = task % deep * tasks->k;
    gemm_pack(g, x, first, i64_min(first + tasks->lines, x->lines), k,
              i64_min(k + tasks->k, g->plan->k));
}
