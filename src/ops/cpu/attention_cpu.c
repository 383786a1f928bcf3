/* attention on a CPU: `flash` (attention_cpu.h). A work item is several blocks of queries, for
 * which every tile of keys and values is packed once. The sums of a row are scaled down when a
 * later tile has a larger score (online softmax). */
#include "ops/cpu/attention_cpu.h"

#include "ops/cpu/impls_cpu.h"
#include "ops/simd_cpu/vector_math.h"

#include <math.h>

enum { BLOCKS = 5 }; /* of queries, in a work item */

/* Where each part of a thread's workspace begins. */
typedef struct Layout {
    int64_t block;                     /* queries of a block */
    int64_t queries, results;          /* of every block */
    int64_t query_bytes, result_bytes; /* of one block */
    int64_t keys, values;              /* of a tile */
    int64_t scores, rounded, weights;
    int64_t bytes;
} Layout;

static Layout layout_for(const Microkernel *kernel, int64_t T, int64_t D)
{
    const int64_t queries = attention_queries(kernel), block = i64_min(queries, T);
    const int64_t keys = i64_min(ATTENTION_KEYS, T);
    const int64_t blocks = i64_min(BLOCKS, i64_ceil_div(T, queries));
    const int64_t scores = panels_cpu_result_bytes(kernel, block, keys);
    Layout r = {.block = queries,
                .query_bytes = panels_cpu_bytes(kernel, PANELS_A, block, D),
                .result_bytes = panels_cpu_result_bytes(kernel, block, D)};
    r.queries = attention_reserve(&r.bytes, blocks * r.query_bytes);
    r.results = attention_reserve(&r.bytes, blocks * r.result_bytes);
    r.keys = attention_reserve(&r.bytes, panels_cpu_bytes(kernel, PANELS_B, keys, D));
    r.values = attention_reserve(&r.bytes, panels_cpu_bytes(kernel, PANELS_B, D, keys));
    r.scores = attention_reserve(&r.bytes, scores);
    r.rounded = attention_reserve(&r.bytes, kernel->operand == DT_F32 ? 0 : scores);
    r.weights = attention_reserve(&r.bytes, panels_cpu_bytes(kernel, PANELS_A, block, keys));
    return r;
}

static size_t workspace(const Plan *plan, const Node *node, int threads)
{
    const HeadMatrix q = head_matrix(plan_in(plan, node, 0), NULL, &node->attr);
    return (size_t)threads *
           (size_t)layout_for(matmul_flash_kernel(plan, node), q.rows, q.cols).bytes;
}

typedef struct Forward {
    const OpCall *call;
    const Microkernel *kernel;
    HeadMatrix q, k, v, out;
    Layout layout;
} Forward;

/* The queries [first, end) of a head; for each the largest score so far and the sum of the exponentials. */
typedef struct Item {
    int64_t head, first, end;
    float max[BLOCKS * ATTENTION_MOST_QUERIES], sum[BLOCKS * ATTENTION_MOST_QUERIES];
    char *workspace;
} Item;

typedef struct Tile {
    int64_t key, keys;
    Panels k, v;
} Tile;

/* Replaces scores by exp(scale (s - max)), by zero where later keys are masked, and returns their
 * sum; `scale` is positive. */
CPU_CLONES static float exp_row(float *s, int64_t visible, int64_t n, float scale, float max)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < visible; j++) {
        s[j] = vector_math_exp(scale * (s[j] - max));
        sum += s[j];
    }
    for (int64_t j = visible; j < n; j++) s[j] = 0;
    return sum;
}

CPU_CLONES static void scale_row(float *x, int64_t n, float factor)
{
    for (int64_t j = 0; j < n; j++) x[j] *= factor;
}

/* Of the n keys of a tile from `key` on, how many a row sees no more because its window begins later:
 * their scores become zero. */
static int64_t skip_before_window(const NodeAttr *attr, int64_t row, int64_t key, int64_t n,
                                  float *s)
{
    const int64_t hidden = attention_visible_here(visible_keys_first(attr, row), key, n);
    for (int64_t j = 0; j < hidden; j++) s[j] = 0;
    return hidden;
}

/* Row `i` of the item, its scores at `s` and its result so far at `o`; `fresh`: there is none. */
static void softmax_row(const Forward *f, Item *item, int64_t i, const Tile *tile, float *s,
                        int64_t n, float *o, bool fresh)
{
    const NodeAttr *attr = &f->call->node->attr;
    const float scale = (float)attr->scale, before = item->max[i];
    const int64_t row = item->first + i;
    const int64_t end = attention_visible_here(attention_visible(attr, row, 1), tile->key, n);
    const int64_t hidden = attr->window ? skip_before_window(attr, row, tile->key, n, s) : 0;
    const float max = rows_cpu_max(s + hidden, end - hidden, before);
    /* Where every score so far is -infinity, the exponentials are 0, and a later tile decides. */
    const float sum =
        exp_row(s + hidden, end - hidden, n - hidden, scale, max > -INFINITY ? max : 0);
    if (fresh) {
        item->sum[i] = sum;
    } else {
        const float factor = max > before ? expf(scale * (before - max)) : 1.0F;
        if (factor != 1.0F) scale_row(o, f->q.cols, factor);
        item->sum[i] = item->sum[i] * factor + sum;
    }
    item->max[i] = max;
}

static void add_tile(const Forward *f, Item *item, int64_t block, const Tile *tile)
{
    const Microkernel *kernel = f->kernel;
    const Layout *r = &f->layout;
    char *w = item->workspace;
    const int64_t D = f->q.cols, ld_out = panels_cpu_ld(kernel, D), first = block * r->block;
    const int64_t rows = i64_min(r->block, item->end - item->first - first);
    const NodeAttr *attr = &f->call->node->attr;
    const int64_t visible = attention_visible(attr, item->first + first, rows);
    const int64_t first_key = visible_keys_first(attr, item->first + first);
    const int64_t n = attention_visible_here(visible, tile->key, tile->keys);
    const bool fresh = tile->key <= first_key; /* the first tile that this block sees */
    const int64_t ld = panels_cpu_ld(kernel, n);
    const Panels q = {w + r->queries + block * r->query_bytes, tile->k.k};
    float *s = attention_floats(w, r->scores);
    float *o = attention_floats(w, r->results + block * r->result_bytes);

    if (n == 0 || tile->key + n <= first_key) return;
    panels_cpu_multiply(kernel, q, tile->k, rows, n, D, s, ld, false);
    for (int64_t i = 0; i < rows; i++) {
        softmax_row(f, item, first + i, tile, s + i * ld, n, o + i * ld_out, fresh);
    }
    const Operand weights = attention_operand(kernel, s, rows, n, ld, w + r->rounded);
    const Panels a =
        panels_cpu_pack(kernel, PANELS_A, pack_cpu_rows(weights), rows, n, w + r->weights);
    panels_cpu_multiply(kernel, a, tile->v, rows, D, n, o, ld_out, !fresh);
}

static Tile tile_at(const Forward *f, const Item *item, int64_t key, int64_t end)
{
    const int64_t D = f->q.cols, keys = i64_min(ATTENTION_KEYS, end - key);
    const Operand k = head_matrix_operand(&f->k, item->head, key);
    const Operand v = head_matrix_operand(&f->v, item->head, key);
    char *w = item->workspace;
    return (Tile){
        key, keys,
        panels_cpu_pack(f->kernel, PANELS_B, pack_cpu_rows(k), keys, D, w + f->layout.keys),
        panels_cpu_pack(f->kernel, PANELS_B, pack_cpu_columns(v), D, keys, w + f->layout.values)};
}

/* The result is divided by the sums at the end: it is narrower than the scores. */
static void finish(const Forward *f, const Item *item, int64_t block)
{
    const NodeAttr *attr = &f->call->node->attr;
    const int64_t D = f->q.cols, ld = panels_cpu_ld(f->kernel, D);
    const int64_t first = block * f->layout.block;
    const int64_t rows = i64_min(f->layout.block, item->end - item->first - first);
    float *o =
        attention_floats(item->workspace, f->layout.results + block * f->layout.result_bytes);
    float *lse = (float *)op_out(f->call, 1) + item->head * attr->tokens + item->first;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t row = first + i;
        lse[row] = (float)attr->scale * item->max[row] + logf(item->sum[row]);
        scale_row(o + i * ld, D, 1.0F / item->sum[row]);
    }
    attention_store(&f->out, item->head, item->first + first, rows, o, ld);
}

static void run_item(const Forward *f, Item *item)
{
    const int64_t D = f->q.cols, queries = item->end - item->first;
    const int64_t size = f->layout.block, blocks = i64_ceil_div(queries, size);
    const NodeAttr *attr = &f->call->node->attr;
    const int64_t begin = visible_keys_first(attr, item->first);
    const int64_t end = attention_visible(attr, item->first, queries);
    for (int64_t i = 0; i < queries; i++) item->max[i] = -INFINITY;
    for (int64_t b = 0; b < blocks; b++) {
        const Operand q = head_matrix_operand(&f->q, item->head, item->first + b * size);
        panels_cpu_pack(f->kernel, PANELS_A, pack_cpu_rows(q), i64_min(size, queries - b * size), D,
                        item->workspace + f->layout.queries + b * f->layout.query_bytes);
    }
    for (int64_t key = begin; key < end; key += ATTENTION_KEYS) {
        const Tile tile = tile_at(f, item, key, end);
        for (int64_t b = 0; b < blocks; b++) add_tile(f, item, b, &tile);
    }
    for (int64_t b = 0; b < blocks; b++) finish(f, item, b);
}

static int64_t items_per_head(const Forward *f)
{
    return i64_ceil_div(f->call->node->attr.tokens, BLOCKS * f->layout.block);
}

static void run_items(const void *data, int64_t begin, int64_t end, int thread)
{
    const Forward *f = data;
    const int64_t queries = BLOCKS * f->layout.block, per_head = items_per_head(f);
    for (int64_t i = begin; i < end; i++) {
        /* The longest rows come first, so that the last work items are the small ones. */
        const int64_t first = (per_head - 1 - i % per_head) * queries;
        Item item = {.head = i / per_head,
                     .first = first,
                     .end = i64_min(first + queries, f->call->node->attr.tokens),
                     .workspace = (char *)f->call->workspace + thread * f->layout.bytes};
        run_item(f, &item);
    }
}

static Status run(const OpCall *call)
{
    Forward f = {.call = call,
                 .kernel = matmul_flash_kernel(call->plan, call->node),
                 .q = head_matrix_in(call, 0),
                 .k = head_matrix_in(call, 1),
                 .v = head_matrix_in(call, 2),
                 .out = head_matrix_out(call, 0)};
    f.layout = layout_for(f.kernel, f.q.rows, f.q.cols);
    thread_team_for(call->threads, f.q.count * items_per_head(&f), 1, run_items, &f);
    return ST_OK;
}

const OpImpl attention_cpu[] = {{"flash", rows_cpu_declines_f64, workspace, run}, {0}};
