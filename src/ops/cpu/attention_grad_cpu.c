/* attention_grad on a CPU: `flash` (attention_cpu.h). It goes through the tiles of keys: dk and dv
 * of a tile stay in the cache while every block of queries that sees it adds to them; dq is summed
 * in memory. A thread takes whole heads. Where heads are fewer than threads it takes tiles, and
 * waits for its turn to add to a block's dq. */
#include "ops/cpu/attention_grad_head_cpu.h"
#include "ops/cpu/impls_cpu.h"

/* That of the heads that are computed at once, then that of every thread. */
static size_t workspace(const Plan *plan, const Node *node, int threads)
{
    const HeadMatrix q = head_matrix(plan_in(plan, node, 1), NULL, &node->attr);
    const Microkernel *kernel = matmul_flash_kernel(plan, node);
    return (size_t)(i64_min(q.count, threads) *
                        attention_grad_head_layout(kernel, q.rows, q.cols).bytes +
                    threads * attention_grad_head_tile_layout(kernel, q.rows, q.cols).bytes);
}

/* Gradients of `head` in memory number `space` for heads, and the thread's for tiles. */
static HeadGrad grad_of(const HeadGrad *all, int64_t head, int64_t space, int thread)
{
    const OpCall *call = all->call;
    char *tiles =
        (char *)call->workspace + i64_min(all->q.count, call->threads) * all->of_head.bytes;
    HeadGrad g = *all;
    g.head = head;
    g.head_space = (char *)call->workspace + space * g.of_head.bytes;
    g.tile_space = tiles + thread * g.of_tile.bytes;
    return g;
}

/* What threads take: heads from `first` on. */
typedef struct HeadSet {
    const HeadGrad *all;
    int64_t first, heads;
} HeadSet;

static void run_heads(const void *data, int64_t first, int64_t last, int thread)
{
    const HeadSet *set = data;
    const int64_t T = set->all->q.rows, blocks = attention_grad_head_blocks(set->all->kernel, T);
    for (int64_t m = first; m < last; m++) {
        const HeadGrad g =
            grad_of(set->all, m, set->heads < set->all->call->threads ? m : thread, thread);
        for (int64_t block = 0; block < blocks; block++) attention_grad_head_prepare(&g, block);
        for (int64_t key = 0; key < T; key += ATTENTION_KEYS) attention_grad_head_add_tile(&g, key);
        for (int64_t block = 0; block < blocks; block++) attention_grad_head_store(&g, block);
    }
}

static void for_blocks(const HeadSet *set, int64_t first, int64_t last, int thread,
                       void (*body)(const HeadGrad *g, int64_t block))
{
    const int64_t blocks = attention_grad_head_blocks(set->all->kernel, set->all->q.rows);
    for (int64_t i = first; i < last; i++) {
        const HeadGrad g = grad_of(set->all, set->first + i / blocks, i / blocks, thread);
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
    const HeadSet *set = data;
    for (int64_t i = first; i < last; i++) {
        const HeadGrad g = grad_of(set->all, set->first + i % set->heads, i % set->heads, thread);
        attention_grad_head_add_tile(&g, i / set->heads * ATTENTION_KEYS);
    }
}

/* Threads take the first tile of every head, then the second and so on: what a tile waits for has started. */
static void run_heads_together(const HeadGrad *all, int64_t first, int64_t heads)
{
    const int threads = all->call->threads;
    const HeadSet set = {all, first, heads};
    const int64_t blocks = heads * attention_grad_head_blocks(all->kernel, all->q.rows);
    thread_team_for(threads, blocks, 1, prepare_blocks, &set);
    thread_team_for(threads, heads * i64_ceil_div(all->q.rows, ATTENTION_KEYS), 1, add_tiles, &set);
    thread_team_for(threads, blocks, 1, store_blocks, &set);
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
    all.of_head = attention_grad_head_layout(all.kernel, all.q.rows, all.q.cols);
    all.of_tile = attention_grad_head_tile_layout(all.kernel, all.q.rows, all.q.cols);
    const int64_t together = all.q.rows > ATTENTION_KEYS ? all.q.count % call->threads : 0;
    const int64_t apart = all.q.count - together;
    thread_team_for(call->threads, apart, 1, run_heads, &(HeadSet){&all, 0, apart});
    if (together > 0) run_heads_together(&all, apart, together);
    return ST_OK;
}

static const char *declines(const Plan *plan, const Node *node)
{
    if (node->attr.head_dim || node->attr.window) return "not yet with grouped queries or a window";
    return rows_cpu_declines_f64(plan, node);
}

const OpImpl attention_grad_cpu[] = {{"flash", declines, workspace, run}, {0}};
