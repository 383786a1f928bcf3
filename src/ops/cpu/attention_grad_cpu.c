/* attention_grad on a CPU: `flash` (attention_cpu.h). It goes through the tiles of keys: dk and dv
 * of a tile stay in the cache while every block of queries that sees it adds to them; dq is summed
 * in memory. A thread takes whole heads of k and v, each with the group of q's heads that share it,
 * one after the other. Where there are fewer than threads it takes tiles of some of these heads, and
 * waits for its turn to add to a block's dq. */
#include "ops/cpu/attention_grad_head_cpu.h"
#include "ops/cpu/impls_cpu.h"

/* Who computes which heads of k and v (each a group of heads of q). */
typedef struct Schedule {
    int64_t group;
    int64_t apart;                     /* the first ones: a thread takes each of them whole */
    int64_t together;                  /* the others: threads share them */
    int64_t members;                   /* heads of q of each of those, at a time */
    int64_t head_spaces, group_spaces; /* workspaces */
} Schedule;

/* Few enough heads at a time that their workspaces are small, enough that every thread finds tiles. */
static int64_t members_at_a_time(int64_t together, int64_t tiles, int64_t group, int threads)
{
    enum { TILES_PER_THREAD = 4 };
    return i64_min(group, i64_ceil_div(TILES_PER_THREAD * threads, together * tiles));
}

static Schedule schedule_of(const HeadMatrix *k, int threads)
{
    const int64_t heads = k->count / k->group, tiles = attention_grad_head_tiles(k->rows);
    Schedule s = {.group = k->group, .members = 1};
    s.together = tiles > 1 || k->group > 1 ? heads % threads : 0;
    s.apart = heads - s.together;
    if (s.together > 0) s.members = members_at_a_time(s.together, tiles, k->group, threads);
    s.group_spaces = i64_min(heads, threads);
    s.head_spaces = s.together * s.members;
    if (s.head_spaces < s.group_spaces) s.head_spaces = s.group_spaces;
    return s;
}

/* That of the heads that are computed at once, that of their groups, then that of every thread. */
static size_t workspace(const Plan *plan, const Node *node, int threads)
{
    const HeadMatrix k = head_matrix(plan_in(plan, node, 2), NULL, &node->attr);
    const Microkernel *kernel = matmul_flash_kernel(plan, node);
    const Schedule s = schedule_of(&k, threads);
    const int64_t T = k.rows, D = k.cols;
    const int64_t head = attention_grad_head_layout(kernel, T, D, k.group).bytes;
    const int64_t group = attention_grad_head_group_bytes(kernel, T, D, k.group);
    const int64_t tile = attention_grad_head_tile_layout(kernel, T, D).bytes;
    return (size_t)(s.head_spaces * head + s.group_spaces * group + threads * tile);
}

typedef struct Backward {
    HeadGrad all;
    Schedule schedule;
    int64_t group_bytes;
} Backward;

/* Gradients of head `head` of q in memory number `space` for heads, `group_space` for groups, and the
 * thread's for tiles. */
static HeadGrad grad_of(const Backward *b, int64_t head, int64_t space, int64_t group_space,
                        int thread)
{
    HeadGrad g = b->all;
    char *heads = g.call->workspace;
    char *groups = heads + b->schedule.head_spaces * g.of_head.bytes;
    char *tiles = groups + b->schedule.group_spaces * b->group_bytes;
    g.head = head;
    g.head_space = heads + space * g.of_head.bytes;
    g.group_space = groups + group_space * b->group_bytes;
    g.tile_space = tiles + thread * g.of_tile.bytes;
    return g;
}

/* ---- heads that a thread takes whole ---- */

static void run_head(const HeadGrad *g)
{
    const int64_t T = g->q.rows, blocks = attention_grad_head_blocks(g->kernel, T);
    for (int64_t block = 0; block < blocks; block++) attention_grad_head_prepare(g, block);
    for (int64_t key = 0; key < T; key += ATTENTION_KEYS) attention_grad_head_add_tile(g, key);
    for (int64_t block = 0; block < blocks; block++) attention_grad_head_store(g, block);
    for (int64_t key = 0; g->k.group > 1 && key < T; key += ATTENTION_KEYS)
        attention_grad_head_add_to_group(g, key);
}

static void run_apart(const void *data, int64_t first, int64_t last, int thread)
{
    const Backward *b = data;
    const Schedule *s = &b->schedule;
    for (int64_t i = first; i < last; i++) {
        const int64_t space = s->apart < b->all.call->threads ? i : thread;
        for (int64_t member = 0; member < s->group; member++) {
            const HeadGrad g = grad_of(b, i * s->group + member, space, space, thread);
            run_head(&g);
        }
    }
}

/* ---- heads that threads share ---- */

/* Some heads of q of every group: `members` of each, from `first` on. */
typedef struct Shared {
    const Backward *b;
    int64_t first, members;
} Shared;

static int64_t heads_of(const Shared *x)
{
    return x->b->schedule.together * x->members;
}

static HeadGrad shared_head(const Shared *x, int64_t i, int thread)
{
    const Schedule *s = &x->b->schedule;
    const int64_t group = i / x->members, member = x->first + i % x->members;
    return grad_of(x->b, (s->apart + group) * s->group + member, i, group, thread);
}

static void for_blocks(const Shared *x, int64_t first, int64_t last, int thread,
                       void (*body)(const HeadGrad *g, int64_t block))
{
    const int64_t blocks = attention_grad_head_blocks(x->b->all.kernel, x->b->all.q.rows);
    for (int64_t i = first; i < last; i++) {
        const HeadGrad g = shared_head(x, i / blocks, thread);
        body(&g, i % blocks);
    }
}

static void prepare_blocks(const void *data, int64_t first, int64_t last, int thread)
{
    for_blocks(data, first, last, thread, attention_grad_head_prepare);
}

static void store_blocks(const void *data, int64_t first, int64_t last, int thread)
{
    for_blocks(data, first, last, thread, attention_grad_head_store);
}

static void add_tiles(const void *data, int64_t first, int64_t last, int thread)
{
    const Shared *x = data;
    for (int64_t i = first; i < last; i++) {
        const HeadGrad g = shared_head(x, i % heads_of(x), thread);
        attention_grad_head_add_tile(&g, i / heads_of(x) * ATTENTION_KEYS);
    }
}

/* A tile of a group at a time. */
static void add_to_groups(const void *data, int64_t first, int64_t last, int thread)
{
    const Shared *x = data;
    const int64_t tiles = attention_grad_head_tiles(x->b->all.q.rows);
    for (int64_t i = first; i < last; i++) {
        for (int64_t member = 0; member < x->members; member++) {
            const HeadGrad g = shared_head(x, i / tiles * x->members + member, thread);
            attention_grad_head_add_to_group(&g, i % tiles * ATTENTION_KEYS);
        }
    }
}

/* Threads take the first tile of every head, then the second and so on: what a tile waits for has started. */
static void run_shared(const Shared *x)
{
    const HeadGrad *all = &x->b->all;
    const int threads = all->call->threads;
    const int64_t blocks = heads_of(x) * attention_grad_head_blocks(all->kernel, all->q.rows);
    const int64_t tiles = attention_grad_head_tiles(all->q.rows);
    thread_team_for(threads, blocks, 1, prepare_blocks, x);
    thread_team_for(threads, heads_of(x) * tiles, 1, add_tiles, x);
    thread_team_for(threads, blocks, 1, store_blocks, x);
    if (all->k.group == 1) return;
    thread_team_for(threads, x->b->schedule.together * tiles, 1, add_to_groups, x);
}

static Status run(const OpCall *call)
{
    HeadGrad all = {.call = call,
                    .kernel = matmul_flash_kernel(call->plan, call->node),
                    .dout = head_matrix_in(call, 0),
                    .q = head_matrix_in(call, 1),
                    .k = head_matrix_in(call, 2),
                    .v = head_matrix_in(call, 3),
                    .out = head_matrix_in(call, 4),
                    .dq = head_matrix_out(call, 0),
                    .dk = head_matrix_out(call, 1),
                    .dv = head_matrix_out(call, 2)};
    const int64_t T = all.q.rows, D = all.q.cols, group = all.k.group;
    all.of_head = attention_grad_head_layout(all.kernel, T, D, group);
    all.of_tile = attention_grad_head_tile_layout(all.kernel, T, D);
    const Backward b = {all, schedule_of(&all.k, call->threads),
                        attention_grad_head_group_bytes(all.kernel, T, D, group)};
    const Schedule *s = &b.schedule;
    thread_team_for(call->threads, s->apart, 1, run_apart, &b);
    for (int64_t first = 0; s->together > 0 && first < group; first += s->members)
        run_shared(&(Shared){&b, first, i64_min(s->members, group - first)});
    return ST_OK;
}

const OpImpl attention_grad_cpu[] = {{"flash", rows_cpu_declines_f64, workspace, run}, {0}};
