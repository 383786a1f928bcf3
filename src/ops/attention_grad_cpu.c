/* attention_grad on a CPU: `flash` (attention_cpu.h). One thread for each head, so that all sums are in a fixed
 * order: tile after tile of keys, whose dk and dv stay in the cache while every block of queries that sees
 * them adds to them; dq is added up in memory. */
#include "ops/attention_cpu.h"
#include "ops/impls_cpu.h"
#include "ops/vector_math.h"

#include <string.h>

enum { BLOCK = ATTENTION_QUERIES };

/* ---- a thread's workspace: where each part begins ---- */

typedef struct Room {
    int64_t q, dout, q_t, dout_t, dq, delta; /* of every block; _t: along the queries */
    int64_t rows, columns, result;           /* bytes of a block's q or dout, q_t or dout_t, dq */
    int64_t keys, values, keys_t;            /* of a tile; keys_t: along the keys */
    int64_t p, ds, rounded_p, rounded_ds, p_t, ds_t, ds_rows;
    int64_t dk, dv, sums; /* sums: bytes of one of them */
    int64_t bytes;
} Room;

/* The parts that every block has. */
static void block_room(Room *r, const Microkernel *kernel, int64_t T, int64_t D)
{
    const int64_t block = attention_smaller(BLOCK, T), blocks = (T + BLOCK - 1) / BLOCK;
    r->rows = panels_cpu_rows_bytes(kernel, block, D);
    r->columns = panels_cpu_columns_bytes(kernel, D, block);
    r->result = panels_cpu_result_bytes(kernel, block, D);
    r->q = attention_after(&r->bytes, blocks * r->rows);
    r->dout = attention_after(&r->bytes, blocks * r->rows);
    r->q_t = attention_after(&r->bytes, blocks * r->columns);
    r->dout_t = attention_after(&r->bytes, blocks * r->columns);
    r->dq = attention_after(&r->bytes, blocks * r->result);
    r->delta = attention_after(&r->bytes, blocks * BLOCK * (int64_t)sizeof(float));
}

static Room room_for(const Microkernel *kernel, int64_t T, int64_t D)
{
    const int64_t block = attention_smaller(BLOCK, T), keys = attention_smaller(ATTENTION_KEYS, T);
    const int64_t scores = panels_cpu_result_bytes(kernel, block, keys);
    const int64_t rounded = kernel->operand == DT_F32 ? 0 : scores;
    Room r = {.sums = panels_cpu_result_bytes(kernel, keys, D)};
    block_room(&r, kernel, T, D);
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

static size_t workspace(const Plan *plan, const Node *node, int threads)
{
    const HeadMatrix q = head_matrix(plan_in(plan, node, 1), NULL, &node->attr);
    return (size_t)threads * (size_t)room_for(attention_kernel(plan, node), q.rows, q.cols).bytes;
}

/* One head, in one thread's workspace. */
typedef struct Backward {
    const OpCall *call;
    const Microkernel *kernel;
    HeadMatrix dout, q, k, v, out, dq, dk, dv;
    Room room;
    int64_t head;
    char *workspace;
} Backward;

static float *floats(const Backward *g, int64_t at)
{
    return (float *)(void *)(g->workspace + at);
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
    const Room *r = &g->room;
    const int64_t first = block * BLOCK, D = g->q.cols;
    const int64_t rows = attention_smaller(BLOCK, g->q.rows - first);
    const PackSource q = attention_rows_of(&g->q, g->head, first);
    const PackSource dout = attention_rows_of(&g->dout, g->head, first);
    const PackSource q_t = attention_columns_of(&g->q, g->head, first);
    const PackSource dout_t = attention_columns_of(&g->dout, g->head, first);
    char *w = g->workspace;
    panels_cpu_rows(g->kernel, &q, rows, D, w + r->q + block * r->rows);
    panels_cpu_rows(g->kernel, &dout, rows, D, w + r->dout + block * r->rows);
    panels_cpu_columns(g->kernel, &q_t, D, rows, w + r->q_t + block * r->columns);
    panels_cpu_columns(g->kernel, &dout_t, D, rows, w + r->dout_t + block * r->columns);
    for (int64_t i = first; i < first + rows; i++) {
        if (!is_whole(attention_seen(&g->call->node->attr, i, 1)))
            floats(g, r->delta)[i] = delta_of(g, i);
    }
}

/* ---- a tile of keys ---- */

typedef struct Tile {
    int64_t key, keys;
    Panels k, v, k_t;
} Tile;

static Tile tile_at(const Backward *g, int64_t key)
{
    const Room *r = &g->room;
    const int64_t D = g->q.cols, keys = attention_smaller(ATTENTION_KEYS, g->k.rows - key);
    const PackSource k = attention_rows_of(&g->k, g->head, key);
    const PackSource v = attention_rows_of(&g->v, g->head, key);
    const PackSource k_t = attention_columns_of(&g->k, g->head, key);
    memset(g->workspace + r->dk, 0, (size_t)r->sums);
    memset(g->workspace + r->dv, 0, (size_t)r->sums);
    return (Tile){key, keys, panels_cpu_columns(g->kernel, &k, keys, D, g->workspace + r->keys),
                  panels_cpu_columns(g->kernel, &v, keys, D, g->workspace + r->values),
                  panels_cpu_columns(g->kernel, &k_t, D, keys, g->workspace + r->keys_t)};
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
    const Room *r = &g->room;
    const int64_t D = g->q.cols, first = s->block * BLOCK;
    const Panels q = {g->workspace + r->q + s->block * r->rows, tile->k.k};
    const Panels dout = {g->workspace + r->dout + s->block * r->rows, tile->k.k};
    const float *lse = (const float *)op_in(g->call, 5) + g->head * attr->tokens + first;
    const float *delta = floats(g, r->delta) + first, scale = (float)attr->scale;
    float *p = floats(g, r->p), *ds = floats(g, r->ds);

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
    s->p = attention_operand(kernel, p, s->rows, s->keys, s->ld, g->workspace + r->rounded_p);
    s->ds = attention_operand(kernel, ds, s->rows, s->keys, s->ld, g->workspace + r->rounded_ds);
}

/* sums[keys, D] += x^T y, where x is p or ds and y the block's rows of dout or q, packed at `columns`. */
static void add_product(const Backward *g, const Scores *s, const void *x, int64_t room,
                        int64_t columns, int64_t sums)
{
    const int64_t D = g->q.cols, depth = g->kernel->depth;
    const PackSource left = {x, g->kernel->operand, 1, s->ld};
    const Panels a = panels_cpu_rows(g->kernel, &left, s->keys, s->rows, g->workspace + room);
    const Panels b = {g->workspace + columns + s->block * g->room.columns,
                      (s->rows + depth - 1) / depth * depth};
    panels_cpu_multiply(g->kernel, a, b, s->keys, D, s->rows, floats(g, sums),
                        panels_cpu_ld(g->kernel, D), true);
}

static void add_queries(const Backward *g, const Tile *tile, const Scores *s)
{
    const int64_t D = g->q.cols;
    const PackSource ds = {s->ds, g->kernel->operand, s->ld, 1};
    const Panels a =
        panels_cpu_rows(g->kernel, &ds, s->rows, s->keys, g->workspace + g->room.ds_rows);
    panels_cpu_multiply(g->kernel, a, tile->k_t, s->rows, D, s->keys,
                        floats(g, g->room.dq + s->block * g->room.result),
                        panels_cpu_ld(g->kernel, D), tile->key > 0);
}

static void run_tile(const Backward *g, int64_t key)
{
    const NodeAttr *attr = &g->call->node->attr;
    const Room *r = &g->room;
    const Tile tile = tile_at(g, key);
    const int64_t T = attr->tokens, ld = panels_cpu_ld(g->kernel, g->q.cols);
    for (int64_t block = attr->causal ? key / BLOCK : 0; block * BLOCK < T; block++) {
        Scores s = {.block = block, .rows = attention_smaller(BLOCK, T - block * BLOCK)};
        s.keys = attention_seen_here(attention_seen(attr, block * BLOCK, s.rows), key, tile.keys);
        s.ld = panels_cpu_ld(g->kernel, s.keys);
        grad_scores(g, &tile, &s);
        add_product(g, &s, s.p, r->p_t, r->dout_t, r->dv);
        add_product(g, &s, s.ds, r->ds_t, r->q_t, r->dk);
        add_queries(g, &tile, &s);
    }
    attention_store(&g->dk, g->head, key, tile.keys, floats(g, r->dk), ld);
    attention_store(&g->dv, g->head, key, tile.keys, floats(g, r->dv), ld);
}

static void run_head(const Backward *g)
{
    const int64_t T = g->q.rows, blocks = (T + BLOCK - 1) / BLOCK;
    for (int64_t block = 0; block < blocks; block++) prepare_block(g, block);
    for (int64_t key = 0; key < T; key += ATTENTION_KEYS) run_tile(g, key);
    for (int64_t block = 0; block < blocks; block++) {
        attention_store(&g->dq, g->head, block * BLOCK, attention_smaller(BLOCK, T - block * BLOCK),
                        floats(g, g->room.dq + block * g->room.result),
                        panels_cpu_ld(g->kernel, g->q.cols));
    }
}

static Status run(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    Backward all = {.call = call,
                    .kernel = attention_kernel(call->plan, call->node),
                    .dout = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr),
                    .q = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr),
                    .k = head_matrix(op_in_shape(call, 2), op_in(call, 2), attr),
                    .v = head_matrix(op_in_shape(call, 3), op_in(call, 3), attr),
                    .out = head_matrix(op_in_shape(call, 4), op_in(call, 4), attr),
                    .dq = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr),
                    .dk = head_matrix(op_out_shape(call, 1), op_out(call, 1), attr),
                    .dv = head_matrix(op_out_shape(call, 2), op_out(call, 2), attr)};
    all.room = room_for(all.kernel, all.q.rows, all.q.cols);
#pragma omp parallel for schedule(dynamic) num_threads(call->threads)
    for (int64_t m = 0; m < all.q.count; m++) {
        Backward g = all;
        g.head = m;
        g.workspace = (char *)call->workspace + omp_thread() * g.room.bytes;
        run_head(&g);
    }
    return ST_OK;
}

const OpImpl attention_grad_cpu[] = {{"flash", rows_cpu_declines_f64, workspace, run}, {0}};
