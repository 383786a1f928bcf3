#include "ops/cpu/attention_grad_head_cpu.h"

#include "ops/simd_cpu/vector_math.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* ---- workspaces ---- */

int64_t attention_grad_head_blocks(const Microkernel *kernel, int64_t T)
{
    return i64_ceil_div(T, attention_queries(kernel));
}

/* Blocks are counted from the end. The last rows see every tile: threads with a tile each begin
 * with them, one after the other, and need not wait again. */
static int64_t first_row(const HeadGrad *g, int64_t block)
{
    return (attention_grad_head_blocks(g->kernel, g->q.rows) - 1 - block) *
           attention_queries(g->kernel);
}

int64_t attention_grad_head_tiles(int64_t T)
{
    return i64_ceil_div(T, ATTENTION_KEYS);
}

/* Of dk or dv of a tile. */
static int64_t sum_bytes(const Microkernel *kernel, int64_t T, int64_t D)
{
    return panels_cpu_result_bytes(kernel, i64_min(ATTENTION_KEYS, T), D);
}

int64_t attention_grad_head_group_bytes(const Microkernel *kernel, int64_t T, int64_t D,
                                        int64_t group)
{
    return group > 1 ? 2 * attention_grad_head_tiles(T) * sum_bytes(kernel, T, D) : 0;
}

HeadLayout attention_grad_head_layout(const Microkernel *kernel, int64_t T, int64_t D,
                                      int64_t group)
{
    const int64_t queries = attention_queries(kernel), block = i64_min(queries, T);
    const int64_t blocks = attention_grad_head_blocks(kernel, T), cache_line = 64;
    HeadLayout r = {.rows = panels_cpu_bytes(kernel, PANELS_A, block, D),
                    .columns = panels_cpu_bytes(kernel, PANELS_B, D, block),
                    .result = panels_cpu_result_bytes(kernel, block, D)};
    r.q = attention_reserve(&r.bytes, blocks * r.rows);
    r.dout = attention_reserve(&r.bytes, blocks * r.rows);
    r.q_t = attention_reserve(&r.bytes, blocks * r.columns);
    r.dout_t = attention_reserve(&r.bytes, blocks * r.columns);
    r.dq = attention_reserve(&r.bytes, blocks * r.result);
    r.delta = attention_reserve(&r.bytes, blocks * queries * (int64_t)sizeof(float));
    r.added =
        attention_reserve(&r.bytes, i64_round_up(blocks * (int64_t)sizeof(atomic_int), cache_line));
    const int64_t sums = attention_grad_head_group_bytes(kernel, T, D, group) / 2;
    r.dk = attention_reserve(&r.bytes, sums);
    r.dv = attention_reserve(&r.bytes, sums);
    return r;
}

TileLayout attention_grad_head_tile_layout(const Microkernel *kernel, int64_t T, int64_t D)
{
    const int64_t block = i64_min(attention_queries(kernel), T);
    const int64_t keys = i64_min(ATTENTION_KEYS, T);
    const int64_t scores = panels_cpu_result_bytes(kernel, block, keys);
    const int64_t rounded = kernel->operand == DT_F32 ? 0 : scores;
    TileLayout r = {.sums = sum_bytes(kernel, T, D)};
    r.keys = attention_reserve(&r.bytes, panels_cpu_bytes(kernel, PANELS_B, keys, D));
    r.values = attention_reserve(&r.bytes, panels_cpu_bytes(kernel, PANELS_B, keys, D));
    r.keys_t = attention_reserve(&r.bytes, panels_cpu_bytes(kernel, PANELS_B, D, keys));
    r.p = attention_reserve(&r.bytes, scores);
    r.ds = attention_reserve(&r.bytes, scores);
    r.rounded_p = attention_reserve(&r.bytes, rounded);
    r.rounded_ds = attention_reserve(&r.bytes, rounded);
    r.p_t = attention_reserve(&r.bytes, panels_cpu_bytes(kernel, PANELS_A, keys, block));
    r.ds_t = attention_reserve(&r.bytes, panels_cpu_bytes(kernel, PANELS_A, keys, block));
    r.ds_rows = attention_reserve(&r.bytes, panels_cpu_bytes(kernel, PANELS_A, block, keys));
    r.dk = attention_reserve(&r.bytes, r.sums);
    r.dv = attention_reserve(&r.bytes, r.sums);
    return r;
}

/* Of a block that begins there. */
static int64_t rows_of(const HeadGrad *g, int64_t first)
{
    return i64_min(attention_queries(g->kernel), g->q.rows - first);
}

static atomic_int *tiles_added(const HeadGrad *g, int64_t block)
{
    return (atomic_int *)(void *)(g->head_space + g->of_head.added) + block;
}

/* ---- blocks of queries ---- */

/* The number of the first tile that a row sees, and with it the rows after it. */
static int64_t first_tile(const NodeAttr *attr, int64_t row)
{
    return visible_keys_first(attr, row) / ATTENTION_KEYS;
}

/* delta is the sum of p dp over the keys of a row, or the sum of dout out, which is the same but
 * for rounding. The first has no error of `out` (16 bit), and is dp exactly where a row sees one
 * key: it is taken where all keys of the row are in one tile. */
static bool is_in_one_tile(const NodeAttr *attr, int64_t row)
{
    return attention_visible(attr, row, 1) <= (first_tile(attr, row) + 1) * ATTENTION_KEYS;
}

CPU_CLONES static float dot(const float *x, const float *y, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* The sum of dout out, in chunks that fit the buffers of 16-bit operands. */
static float delta_of(const HeadGrad *g, int64_t row)
{
    float a[ROWS_CHUNK], b[ROWS_CHUNK], sum = 0;
    const Operand dout = head_matrix_operand(&g->dout, g->head, row);
    const Operand out = head_matrix_operand(&g->out, g->head, row);
    for (int64_t d = 0; d < dout.cols; d += ROWS_CHUNK) {
        const int64_t n = i64_min(ROWS_CHUNK, dout.cols - d);
        sum += dot(operand_cpu_read(dout, 0, d, n, a), operand_cpu_read(out, 0, d, n, b), n);
    }
    return sum;
}

/* Packs a block of rows both ways: as a, along the columns, and as b, along the rows. */
static void pack_block(const HeadGrad *g, const HeadMatrix *x, int64_t first, int64_t block,
                       int64_t rows_at, int64_t columns_at)
{
    const Operand from = head_matrix_operand(x, g->head, first);
    const int64_t n = rows_of(g, first);
    panels_cpu_pack(g->kernel, PANELS_A, pack_cpu_rows(from), n, from.cols,
                    g->head_space + rows_at + block * g->of_head.rows);
    panels_cpu_pack(g->kernel, PANELS_B, pack_cpu_columns(from), from.cols, n,
                    g->head_space + columns_at + block * g->of_head.columns);
}

void attention_grad_head_prepare(const HeadGrad *g, int64_t block)
{
    const HeadLayout *r = &g->of_head;
    const int64_t first = first_row(g, block), end = first + rows_of(g, first);
    float *delta = attention_floats(g->head_space, r->delta);
    atomic_init(tiles_added(g, block), 0);
    pack_block(g, &g->q, first, block, r->q, r->q_t);
    pack_block(g, &g->dout, first, block, r->dout, r->dout_t);
    for (int64_t i = first; i < end; i++) {
        if (!is_in_one_tile(&g->call->node->attr, i)) delta[i] = delta_of(g, i);
    }
}

/* ---- a tile of keys ---- */

typedef struct Tile {
    int64_t key, keys;
    Panels k, v, k_t;
    float *dk, *dv;
} Tile;

/* Of dk and dv, the tile that begins at `key`. */
static float *sums_of(const HeadGrad *g, char *space, int64_t at, int64_t key)
{
    return attention_floats(space, at + key / ATTENTION_KEYS * g->of_tile.sums);
}

static Tile tile_at(const HeadGrad *g, int64_t key)
{
    const TileLayout *r = &g->of_tile;
    const int64_t D = g->q.cols, keys = i64_min(ATTENTION_KEYS, g->k.rows - key);
    const Operand k = head_matrix_operand(&g->k, g->head, key);
    const Operand v = head_matrix_operand(&g->v, g->head, key);
    const bool alone = g->k.group == 1;
    char *w = g->tile_space, *head = g->head_space;
    const Tile tile = {
        key,
        keys,
        panels_cpu_pack(g->kernel, PANELS_B, pack_cpu_rows(k), keys, D, w + r->keys),
        panels_cpu_pack(g->kernel, PANELS_B, pack_cpu_rows(v), keys, D, w + r->values),
        panels_cpu_pack(g->kernel, PANELS_B, pack_cpu_columns(k), D, keys, w + r->keys_t),
        alone ? attention_floats(w, r->dk) : sums_of(g, head, g->of_head.dk, key),
        alone ? attention_floats(w, r->dv) : sums_of(g, head, g->of_head.dv, key)};
    memset(tile.dk, 0, (size_t)r->sums);
    memset(tile.dv, 0, (size_t)r->sums);
    return tile;
}

CPU_CLONES static void scale_scores(float *x, int64_t n, float factor)
{
    for (int64_t j = 0; j < n; j++) x[j] *= factor;
}

/* From scaled scores: p = exp(s - lse), and the sum of p dp. (Scores are scaled in a loop of their
 * own, because a fused multiply-add would not meet lse exactly.) */
CPU_CLONES static float probabilities_row(float *restrict p, const float *restrict dp,
                                          int64_t visible, float lse)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < visible; j++) {
        p[j] = vector_math_exp(p[j] - lse);
        sum += p[j] * dp[j];
    }
    return sum;
}

/* ds = scale p (dp - delta); it and p are 0 where later keys are masked. */
CPU_CLONES static void score_grad_row(float *restrict p, float *restrict dp, int64_t visible,
                                      int64_t n, float scale, float delta)
{
    for (int64_t j = 0; j < visible; j++) dp[j] = scale * p[j] * (dp[j] - delta);
    for (int64_t j = visible; j < n; j++) p[j] = dp[j] = 0;
}

/* From scores and dp of a row, of which the tile has `n`, its p and ds. */
static void grad_row(const HeadGrad *g, const Tile *tile, int64_t row, float *p, float *ds,
                     int64_t n)
{
    const NodeAttr *attr = &g->call->node->attr;
    const float *lse = (const float *)op_in(g->call, 5) + g->head * attr->tokens;
    const float *delta = attention_floats(g->head_space, g->of_head.delta);
    const float scale = (float)attr->scale;
    const int64_t end = attention_visible_here(attention_visible(attr, row, 1), tile->key, n);
    int64_t hidden = 0; /* before the window */
    if (attr->window) {
        hidden = attention_visible_here(visible_keys_first(attr, row), tile->key, n);
        for (int64_t j = 0; j < hidden; j++) p[j] = ds[j] = 0;
    }
    scale_scores(p + hidden, end - hidden, scale);
    const float sum = probabilities_row(p + hidden, ds + hidden, end - hidden, lse[row]);
    score_grad_row(p + hidden, ds + hidden, end - hidden, n - hidden, scale,
                   is_in_one_tile(attr, row) ? sum : delta[row]);
}

/* Scores and their gradients of a block and a tile, as operands of the GEMMs that follow. */
typedef struct Scores {
    int64_t block, rows, keys, ld;
    Operand p, ds;
} Scores;

static void grad_scores(const HeadGrad *g, const Tile *tile, Scores *s)
{
    const Microkernel *kernel = g->kernel;
    const HeadLayout *h = &g->of_head;
    const TileLayout *r = &g->of_tile;
    const int64_t D = g->q.cols, first = first_row(g, s->block);
    const Panels q = {g->head_space + h->q + s->block * h->rows, tile->k.k};
    const Panels dout = {g->head_space + h->dout + s->block * h->rows, tile->k.k};
    float *p = attention_floats(g->tile_space, r->p), *ds = attention_floats(g->tile_space, r->ds);

    panels_cpu_multiply(kernel, q, tile->k, s->rows, s->keys, D, p, s->ld, false);
    panels_cpu_multiply(kernel, dout, tile->v, s->rows, s->keys, D, ds, s->ld, false);
    for (int64_t i = 0; i < s->rows; i++) {
        grad_row(g, tile, first + i, p + i * s->ld, ds + i * s->ld, s->keys);
    }
    s->p = attention_operand(kernel, p, s->rows, s->keys, s->ld, g->tile_space + r->rounded_p);
    s->ds = attention_operand(kernel, ds, s->rows, s->keys, s->ld, g->tile_space + r->rounded_ds);
}

/* sums[keys, D] += x^T y, where x is p or ds, packed into `packed`, and y the block's rows of dout
 * or q at `columns`. */
static void add_transposed(const HeadGrad *g, const Scores *s, Operand x, int64_t packed,
                           int64_t columns, float *sums)
{
    const int64_t D = g->q.cols;
    const Panels a = panels_cpu_pack(g->kernel, PANELS_A, pack_cpu_columns(x), s->keys, s->rows,
                                     g->tile_space + packed);
    const Panels b = {g->head_space + columns + s->block * g->of_head.columns,
                      i64_round_up(s->rows, g->kernel->kr)};
    panels_cpu_multiply(g->kernel, a, b, s->keys, D, s->rows, sums, panels_cpu_ld(g->kernel, D),
                        true);
}

/* Spins for a while, then yields: the thread it waits for may have no core. */
static void wait_for_tiles(const HeadGrad *g, int64_t block, int tiles)
{
    enum { SPINS = 1000 };
    const atomic_int *added = tiles_added(g, block);
    for (int i = 0; atomic_load_explicit(added, memory_order_acquire) != tiles; i += i < SPINS) {
        if (i == SPINS) sched_yield();
    }
}

static void add_to_dq(const HeadGrad *g, const Tile *tile, const Scores *s)
{
    const int64_t D = g->q.cols;
    const int before = (int)(tile->key / ATTENTION_KEYS -
                             first_tile(&g->call->node->attr, first_row(g, s->block)));
    const Panels a = panels_cpu_pack(g->kernel, PANELS_A, pack_cpu_rows(s->ds), s->rows, s->keys,
                                     g->tile_space + g->of_tile.ds_rows);
    wait_for_tiles(g, s->block, before);
    panels_cpu_multiply(
        g->kernel, a, tile->k_t, s->rows, D, s->keys,
        attention_floats(g->head_space, g->of_head.dq + s->block * g->of_head.result),
        panels_cpu_ld(g->kernel, D), before > 0);
    atomic_store_explicit(tiles_added(g, s->block), before + 1, memory_order_release);
}

void attention_grad_head_add_tile(const HeadGrad *g, int64_t key)
{
    const NodeAttr *attr = &g->call->node->attr;
    const HeadLayout *h = &g->of_head;
    const TileLayout *r = &g->of_tile;
    const Tile tile = tile_at(g, key);
    const int64_t T = attr->tokens, ld = panels_cpu_ld(g->kernel, g->q.cols);
    const int64_t before = attr->causal ? key / attention_queries(g->kernel) : 0;
    const int64_t blocks = attention_grad_head_blocks(g->kernel, T) - before;
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t first = first_row(g, block);
        if (first_tile(attr, first) * ATTENTION_KEYS > key) continue;
        Scores s = {.block = block, .rows = rows_of(g, first)};
        s.keys = attention_visible_here(attention_visible(attr, first, s.rows), key, tile.keys);
        s.ld = panels_cpu_ld(g->kernel, s.keys);
        grad_scores(g, &tile, &s);
        add_transposed(g, &s, s.p, r->p_t, h->dout_t, tile.dv);
        add_transposed(g, &s, s.ds, r->ds_t, h->q_t, tile.dk);
        add_to_dq(g, &tile, &s);
    }
    if (g->k.group > 1) return; /* attention_grad_head_add_to_group() */
    attention_store(&g->dk, g->head, key, tile.keys, tile.dk, ld);
    attention_store(&g->dv, g->head, key, tile.keys, tile.dv, ld);
}

/* sum = x for the first head of a group, += x for the others; the last one's sum is stored. */
static void add_sums(const HeadGrad *g, const HeadMatrix *to, int64_t key, float *sum,
                     const float *x)
{
    const int64_t member = g->head % to->group, n = g->of_tile.sums / (int64_t)sizeof(float);
    if (member == 0) {
        memcpy(sum, x, (size_t)g->of_tile.sums);
    } else {
        rows_cpu_add(sum, x, n);
    }
    if (member < to->group - 1) return;
    attention_store(to, g->head, key, i64_min(ATTENTION_KEYS, to->rows - key), sum,
                    panels_cpu_ld(g->kernel, to->cols));
}

void attention_grad_head_add_to_group(const HeadGrad *g, int64_t key)
{
    const int64_t dv = attention_grad_head_tiles(g->k.rows) * g->of_tile.sums; /* after dk */
    add_sums(g, &g->dk, key, sums_of(g, g->group_space, 0, key),
             sums_of(g, g->head_space, g->of_head.dk, key));
    add_sums(g, &g->dv, key, sums_of(g, g->group_space, dv, key),
             sums_of(g, g->head_space, g->of_head.dv, key));
}

void attention_grad_head_store(const HeadGrad *g, int64_t block)
{
    const int64_t first = first_row(g, block);
    attention_store(&g->dq, g->head, first, rows_of(g, first),
                    attention_floats(g->head_space, g->of_head.dq + block * g->of_head.result),
                    panels_cpu_ld(g->kernel, g->q.cols));
}
