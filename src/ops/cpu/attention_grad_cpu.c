/* attention_grad on a CPU: `flash` (attention_cpu.h). Tile after tile of keys, whose dk and dv stay in the cache
 * while every block of queries that sees them adds to them; dq is added up in memory. A head is one thread's;
 * where heads are fewer than threads, a tile is, and each adds to a block's dq in its turn: sums are in one
 * order whatever the number of threads. */
#include "ops/cpu/attention_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/simd_cpu/vector_math.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* ---- workspaces: where each part begins ---- */

/* A head's: of every block of queries. */
typedef struct HeadRoom {
    int64_t q, dout, q_t, dout_t, dq, delta; /* _t: along the queries */
    int64_t added;                           /* tiles that are in dq */
    int64_t rows, columns, result;           /* bytes of a block's q or dout, q_t or dout_t, dq */
    int64_t bytes;
} HeadRoom;

/* A thread's: of a tile of keys, and of a block that sees it. */
typedef struct TileRoom {
    int64_t keys, values, keys_t; /* keys_t: along the keys */
    int64_t p, ds, rounded_p, rounded_ds, p_t, ds_t, ds_rows;
    int64_t dk, dv, sums; /* sums: bytes of one of them */
    int64_t bytes;
} TileRoom;

static int64_t blocks_of(const Microkernel *kernel, int64_t T)
{
    return (T + attention_queries(kernel) - 1) / attention_queries(kernel);
}

/* Blocks are counted from the end. Every tile has the last rows: threads with a tile each begin with them, one
 * after the other, and need not wait again. */
static int64_t first_row(const Microkernel *kernel, int64_t T, int64_t block)
{
    return (blocks_of(kernel, T) - 1 - block) * attention_queries(kernel);
}

static HeadRoom head_room(const Microkernel *kernel, int64_t T, int64_t D)
{
    const int64_t queries = attention_queries(kernel), block = attention_smaller(queries, T);
    const int64_t blocks = blocks_of(kernel, T), line = 64;
    HeadRoom r = {.rows = panels_cpu_rows_bytes(kernel, block, D),
                  .columns = panels_cpu_columns_bytes(kernel, D, block),
                  .result = panels_cpu_result_bytes(kernel, block, D)};
    r.q = attention_after(&r.bytes, blocks * r.rows);
    r.dout = attention_after(&r.bytes, blocks * r.rows);
    r.q_t = attention_after(&r.bytes, blocks * r.columns);
    r.dout_t = attention_after(&r.bytes, blocks * r.columns);
    r.dq = attention_after(&r.bytes, blocks * r.result);
    r.delta = attention_after(&r.bytes, blocks * queries * (int64_t)sizeof(float));
    r.added =
        attention_after(&r.bytes, (blocks * (int64_t)sizeof(atomic_int) + line - 1) / line * line);
    return r;
}

static TileRoom tile_room(const Microkernel *kernel, int64_t T, int64_t D)
{
    const int64_t block = attention_smaller(attention_queries(kernel), T);
    const int64_t keys = attention_smaller(ATTENTION_KEYS, T);
    const int64_t scores = panels_cpu_result_bytes(kernel, block, keys);
    const int64_t rounded = kernel->operand == DT_F32 ? 0 : scores;
    TileRoom r = {.sums = panels_cpu_result_bytes(kernel, keys, D)};
    r.keys = attention_after(&r.bytes, panels_cpu_columns_bytes(kernel, keys, D));
    r.values = attention_after(&r.bytes, panels_cpu_columns_bytes(kernel, keys, D));
    r.keys_t = attention_after(&r.bytes, panels_cpu_columns_bytes(kernel, D, keys));
    r.p = attention_after(&r.bytes, scores);
    r.ds = attention_after(&r.bytes, scores);
    r.rounded_p = attention_after(&r.bytes, rounded);
    r.rounded_ds = attention_after(&r.bytes, rounded);
    r.p_t = attention_after(&r.bytes, panels_cpu_rows_bytes(kernel, keys, block));
    r.ds_t = attention_after(&r.bytes, panels_cpu_rows_bytes(kernel, keys, block));
    r.ds_rows = attention_after(&r.bytes, panels_cpu_rows_bytes(kernel, block, keys));
    r.dk = attention_after(&r.bytes, r.sums);
    r.dv = attention_after(&r.bytes, r.sums);
    return r;
}

/* Of as many heads as are in work at once, then of every thread. */
static size_t workspace(const Plan *plan, const Node *node, int threads)
{
    const HeadMatrix q = head_matrix(plan_in(plan, node, 1), NULL, &node->attr);
    const Microkernel *kernel = matmul_flash_kernel(plan, node);
    return (size_t)(attention_smaller(q.count, threads) * head_room(kernel, q.rows, q.cols).bytes +
                    threads * tile_room(kernel, q.rows, q.cols).bytes);
}

/* One head, in its workspace and that of a thread. */
typedef struct Backward {
    const OpCall *call;
    const Microkernel *kernel;
    HeadMatrix dout, q, k, v, out, dq, dk, dv;
    HeadRoom of_head;
    TileRoom of_tile;
    int64_t head;
    char *head_space, *tile_space;
} Backward;

static Backward backward_of(const Backward *all, int64_t head, int64_t room)
{
    const OpCall *call = all->call;
    char *tiles = (char *)call->workspace +
                  attention_smaller(all->q.count, call->threads) * all->of_head.bytes;
    Backward g = *all;
    g.head = head;
    g.head_space = (char *)call->workspace + room * g.of_head.bytes;
    g.tile_space = tiles + omp_thread() * g.of_tile.bytes;
    return g;
}

/* Of a block that begins there. */
static int64_t rows_of(const Backward *g, int64_t first)
{
    return attention_smaller(attention_queries(g->kernel), g->q.rows - first);
}

static float *floats(char *space, int64_t at)
{
    return (float *)(void *)(space + at);
}

static atomic_int *tiles_added(const Backward *g, int64_t block)
{
    return (atomic_int *)(void *)(g->head_space + g->of_head.added) + block;
}

/* ---- blocks of queries ---- */

/* delta, what a row's gradients have in common, is the sum of p dp over its keys, or that of dout out, which is
 * the same but for rounding. The first has no error of `out` (16 bit), and is dp exactly where a row sees one
 * key: it is taken where all keys of the row are in the first tile. */
static bool is_whole(int64_t seen)
{
    return seen <= ATTENTION_KEYS;
}

CPU_CLONES static float dot(const float *x, const float *y, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Of dout out; in pieces, which are widened in buffers of a fixed size. */
static float delta_of(const Backward *g, int64_t row)
{
    float a[ROWS_CHUNK], b[ROWS_CHUNK], sum = 0;
    const int64_t D = g->q.cols;
    const int64_t x = head_matrix_start(&g->dout, g->head) + row * g->dout.ld;
    const int64_t y = head_matrix_start(&g->out, g->head) + row * g->out.ld;
    for (int64_t d = 0; d < D; d += ROWS_CHUNK) {
        const int64_t n = attention_smaller(ROWS_CHUNK, D - d);
        sum += dot(
            rows_cpu_read(rows_cpu_at(g->dout.data, g->dout.dtype, x + d), g->dout.dtype, n, a),
            rows_cpu_read(rows_cpu_at(g->out.data, g->out.dtype, y + d), g->out.dtype, n, b), n);
    }
    return sum;
}

static void prepare_block(const Backward *g, int64_t block)
{
    const HeadRoom *r = &g->of_head;
    const int64_t first = first_row(g->kernel, g->q.rows, block), D = g->q.cols;
    const int64_t rows = rows_of(g, first);
    const PackSource q = head_rows_cpu_lines(&g->q, g->head, first);
    const PackSource dout = head_rows_cpu_lines(&g->dout, g->head, first);
    const PackSource q_t = head_rows_cpu_columns(&g->q, g->head, first);
    const PackSource dout_t = head_rows_cpu_columns(&g->dout, g->head, first);
    char *w = g->head_space;
    atomic_init(tiles_added(g, block), 0);
    panels_cpu_rows(g->kernel, &q, rows, D, w + r->q + block * r->rows);
    panels_cpu_rows(g->kernel, &dout, rows, D, w + r->dout + block * r->rows);
    panels_cpu_columns(g->kernel, &q_t, D, rows, w + r->q_t + block * r->columns);
    panels_cpu_columns(g->kernel, &dout_t, D, rows, w + r->dout_t + block * r->columns);
    for (int64_t i = first; i < first + rows; i++) {
        if (!is_whole(attention_seen(&g->call->node->attr, i, 1)))
            floats(g->head_space, r->delta)[i] = delta_of(g, i);
    }
}

/* ---- a tile of keys ---- */

typedef struct Tile {
    int64_t key, keys;
    Panels k, v, k_t;
} Tile;

static Tile tile_at(const Backward *g, int64_t key)
{
    const TileRoom *r = &g->of_tile;
    const int64_t D = g->q.cols, keys = attention_smaller(ATTENTION_KEYS, g->k.rows - key);
    const PackSource k = head_rows_cpu_lines(&g->k, g->head, key);
    const PackSource v = head_rows_cpu_lines(&g->v, g->head, key);
    const PackSource k_t = head_rows_cpu_columns(&g->k, g->head, key);
    memset(g->tile_space + r->dk, 0, (size_t)r->sums);
    memset(g->tile_space + r->dv, 0, (size_t)r->sums);
    return (Tile){key, keys, panels_cpu_columns(g->kernel, &k, keys, D, g->tile_space + r->keys),
                  panels_cpu_columns(g->kernel, &v, keys, D, g->tile_space + r->values),
                  panels_cpu_columns(g->kernel, &k_t, D, keys, g->tile_space + r->keys_t)};
}

CPU_CLONES static void scale_scores(float *x, int64_t n, float factor)
{
    for (int64_t j = 0; j < n; j++) x[j] *= factor;
}

/* From scaled scores: p = exp(s - lse), and the sum of p dp. (Scores are scaled in a loop of their own, because a
 * fused multiply-add would not meet lse exactly.) */
CPU_CLONES static float probabilities_row(float *restrict p, const float *restrict dp, int64_t seen,
                                          float lse)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < seen; j++) {
        p[j] = vector_math_exp(p[j] - lse);
        sum += p[j] * dp[j];
    }
    return sum;
}

/* ds = scale p (dp - delta); it and p are 0 where the row may not see. */
CPU_CLONES static void score_grad_row(float *restrict p, float *restrict dp, int64_t seen,
                                      int64_t n, float scale, float delta)
{
    for (int64_t j = 0; j < seen; j++) dp[j] = scale * p[j] * (dp[j] - delta);
    for (int64_t j = seen; j < n; j++) p[j] = dp[j] = 0;
}

/* Scores and their gradients of a block and a tile, as operands of the products that follow. */
typedef struct Scores {
    int64_t block, rows, keys, ld;
    const void *p, *ds;
} Scores;

static void grad_scores(const Backward *g, const Tile *tile, Scores *s)
{
    const NodeAttr *attr = &g->call->node->attr;
    const Microkernel *kernel = g->kernel;
    const HeadRoom *h = &g->of_head;
    const TileRoom *r = &g->of_tile;
    const int64_t D = g->q.cols, first = first_row(kernel, g->q.rows, s->block);
    const Panels q = {g->head_space + h->q + s->block * h->rows, tile->k.k};
    const Panels dout = {g->head_space + h->dout + s->block * h->rows, tile->k.k};
    const float *lse = (const float *)op_in(g->call, 5) + g->head * attr->tokens + first;
    const float *delta = floats(g->head_space, h->delta) + first, scale = (float)attr->scale;
    float *p = floats(g->tile_space, r->p), *ds = floats(g->tile_space, r->ds);

    panels_cpu_multiply(kernel, q, tile->k, s->rows, s->keys, D, p, s->ld, false);
    panels_cpu_multiply(kernel, dout, tile->v, s->rows, s->keys, D, ds, s->ld, false);
    for (int64_t i = 0; i < s->rows; i++) {
        const int64_t all = attention_seen(attr, first + i, 1);
        const int64_t seen = attention_seen_here(all, tile->key, s->keys);
        float *p_row = p + i * s->ld, *ds_row = ds + i * s->ld;
        scale_scores(p_row, seen, scale);
        const float sum = probabilities_row(p_row, ds_row, seen, lse[i]);
        score_grad_row(p_row, ds_row, seen, s->keys, scale, is_whole(all) ? sum : delta[i]);
    }
    s->p = attention_operand(kernel, p, s->rows, s->keys, s->ld, g->tile_space + r->rounded_p);
    s->ds = attention_operand(kernel, ds, s->rows, s->keys, s->ld, g->tile_space + r->rounded_ds);
}

/* sums[keys, D] += x^T y, where x is p or ds and y the block's rows of dout or q, packed at `columns`. */
static void add_product(const Backward *g, const Scores *s, const void *x, int64_t room,
                        int64_t columns, int64_t sums)
{
    const int64_t D = g->q.cols, depth = g->kernel->depth;
    const PackSource left = {x, g->kernel->operand, 1, s->ld};
    const Panels a = panels_cpu_rows(g->kernel, &left, s->keys, s->rows, g->tile_space + room);
    const Panels b = {g->head_space + columns + s->block * g->of_head.columns,
                      (s->rows + depth - 1) / depth * depth};
    panels_cpu_multiply(g->kernel, a, b, s->keys, D, s->rows, floats(g->tile_space, sums),
                        panels_cpu_ld(g->kernel, D), true);
}

/* A thread that is not running is not waited for busily. */
static void wait_for_tiles(const Backward *g, int64_t block, int tiles)
{
    enum { PATIENCE = 1000 };
    const atomic_int *added = tiles_added(g, block);
    for (int i = 0; atomic_load_explicit(added, memory_order_acquire) != tiles; i += i < PATIENCE) {
        if (i == PATIENCE) sched_yield();
    }
}

static void add_queries(const Backward *g, const Tile *tile, const Scores *s)
{
    const int64_t D = g->q.cols;
    const int before = (int)(tile->key / ATTENTION_KEYS);
    const PackSource ds = {s->ds, g->kernel->operand, s->ld, 1};
    const Panels a =
        panels_cpu_rows(g->kernel, &ds, s->rows, s->keys, g->tile_space + g->of_tile.ds_rows);
    wait_for_tiles(g, s->block, before);
    panels_cpu_multiply(g->kernel, a, tile->k_t, s->rows, D, s->keys,
                        floats(g->head_space, g->of_head.dq + s->block * g->of_head.result),
                        panels_cpu_ld(g->kernel, D), before > 0);
    atomic_store_explicit(tiles_added(g, s->block), before + 1, memory_order_release);
}

static void run_tile(const Backward *g, int64_t key)
{
    const NodeAttr *attr = &g->call->node->attr;
    const HeadRoom *h = &g->of_head;
    const TileRoom *r = &g->of_tile;
    const Tile tile = tile_at(g, key);
    const int64_t T = attr->tokens, ld = panels_cpu_ld(g->kernel, g->q.cols);
    const int64_t before = attr->causal ? key / attention_queries(g->kernel) : 0;
    const int64_t blocks = blocks_of(g->kernel, T) - before;
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t first = first_row(g->kernel, T, block);
        Scores s = {.block = block, .rows = rows_of(g, first)};
        s.keys = attention_seen_here(attention_seen(attr, first, s.rows), key, tile.keys);
        s.ld = panels_cpu_ld(g->kernel, s.keys);
        grad_scores(g, &tile, &s);
        add_product(g, &s, s.p, r->p_t, h->dout_t, r->dv);
        add_product(g, &s, s.ds, r->ds_t, h->q_t, r->dk);
        add_queries(g, &tile, &s);
    }
    attention_store(&g->dk, g->head, key, tile.keys, floats(g->tile_space, r->dk), ld);
    attention_store(&g->dv, g->head, key, tile.keys, floats(g->tile_space, r->dv), ld);
}

static void store_queries(const Backward *g, int64_t block)
{
    const int64_t first = first_row(g->kernel, g->q.rows, block);
    attention_store(&g->dq, g->head, first, rows_of(g, first),
                    floats(g->head_space, g->of_head.dq + block * g->of_head.result),
                    panels_cpu_ld(g->kernel, g->q.cols));
}

/* ---- heads ---- */

static void run_head(const Backward *g)
{
    const int64_t T = g->q.rows, blocks = blocks_of(g->kernel, T);
    for (int64_t block = 0; block < blocks; block++) prepare_block(g, block);
    for (int64_t key = 0; key < T; key += ATTENTION_KEYS) run_tile(g, key);
    for (int64_t block = 0; block < blocks; block++) store_queries(g, block);
}

static void run_heads_apart(const Backward *all, int64_t heads)
{
    const int threads = all->call->threads;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t m = 0; m < heads; m++) {
        const Backward g = backward_of(all, m, heads < threads ? m : omp_thread());
        run_head(&g);
    }
}

/* Threads take the first tile of every head, then the second ...: what a tile waits for is in work or done. */
static void run_heads_together(const Backward *all, int64_t first, int64_t heads)
{
    const int threads = all->call->threads;
    const int64_t T = all->q.rows, blocks = blocks_of(all->kernel, T);
    const int64_t tiles = (T + ATTENTION_KEYS - 1) / ATTENTION_KEYS;
    atomic_int_fast64_t next = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t i = 0; i < heads * blocks; i++) {
        const Backward g = backward_of(all, first + i / blocks, i / blocks);
        prepare_block(&g, i % blocks);
    }
#pragma omp parallel num_threads(threads)
    for (int64_t i; (i = atomic_fetch_add(&next, 1)) < heads * tiles;) {
        const Backward g = backward_of(all, first + i % heads, i % heads);
        run_tile(&g, i / heads * ATTENTION_KEYS);
    }
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t i = 0; i < heads * blocks; i++) {
        const Backward g = backward_of(all, first + i / blocks, i / blocks);
        store_queries(&g, i % blocks);
    }
}

static Status run(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    Backward all = {.call = call,
                    .kernel = matmul_flash_kernel(call->plan, call->node),
                    .dout = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr),
                    .q = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr),
                    .k = head_matrix(op_in_shape(call, 2), op_in(call, 2), attr),
                    .v = head_matrix(op_in_shape(call, 3), op_in(call, 3), attr),
                    .out = head_matrix(op_in_shape(call, 4), op_in(call, 4), attr),
                    .dq = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr),
                    .dk = head_matrix(op_out_shape(call, 1), op_out(call, 1), attr),
                    .dv = head_matrix(op_out_shape(call, 2), op_out(call, 2), attr)};
    all.of_head = head_room(all.kernel, all.q.rows, all.q.cols);
    all.of_tile = tile_room(all.kernel, all.q.rows, all.q.cols);
    const int64_t together = all.q.rows > ATTENTION_KEYS ? all.q.count % call->threads : 0;
    const int64_t apart = all.q.count - together;
    run_heads_apart(&all, apart);
    if (together > 0) run_heads_together(&all, apart, together);
    return ST_OK;
}

const OpImpl attention_grad_cpu[] = {{"flash", rows_cpu_declines_f64, workspace, run}, {0}};
