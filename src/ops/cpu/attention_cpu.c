/* attention on a CPU: `flash` (attention_cpu.h). A piece of work are some blocks of queries, with which every
 * tile of keys and values is packed once. What a row has summed up is scaled down when a later tile has a
 * larger score. */
#include "ops/cpu/attention_cpu.h"

#include "ops/cpu/impls_cpu.h"
#include "ops/simd_cpu/vector_math.h"

#include <math.h>

enum { BLOCKS = 5 }; /* of a piece of work */

/* ---- a thread's workspace: where each part begins ---- */

typedef struct Room {
    int64_t block;            /* queries */
    int64_t queries, results; /* of every block */
    int64_t query, result;    /* bytes of a block's */
    int64_t keys, values;     /* of a tile */
    int64_t scores, rounded, weights;
    int64_t bytes;
} Room;

static Room room_for(const Microkernel *kernel, int64_t T, int64_t D)
{
    const int64_t queries = attention_queries(kernel), block = attention_smaller(queries, T);
    const int64_t keys = attention_smaller(ATTENTION_KEYS, T);
    const int64_t blocks = attention_smaller(BLOCKS, (T + queries - 1) / queries);
    const int64_t scores = panels_cpu_result_bytes(kernel, block, keys);
    Room r = {.block = queries,
              .query = panels_cpu_rows_bytes(kernel, block, D),
              .result = panels_cpu_result_bytes(kernel, block, D)};
    r.queries = attention_after(&r.bytes, blocks * r.query);
    r.results = attention_after(&r.bytes, blocks * r.result);
    r.keys = attention_after(&r.bytes, panels_cpu_columns_bytes(kernel, keys, D));
    r.values = attention_after(&r.bytes, panels_cpu_columns_bytes(kernel, D, keys));
    r.scores = attention_after(&r.bytes, scores);
    r.rounded = attention_after(&r.bytes, kernel->operand == DT_F32 ? 0 : scores);
    r.weights = attention_after(&r.bytes, panels_cpu_rows_bytes(kernel, block, keys));
    return r;
}

static size_t workspace(const Plan *plan, const Node *node, int threads)
{
    const HeadMatrix q = head_matrix(plan_in(plan, node, 0), NULL, &node->attr);
    return (size_t)threads *
           (size_t)room_for(matmul_flash_kernel(plan, node), q.rows, q.cols).bytes;
}

typedef struct Forward {
    const OpCall *call;
    const Microkernel *kernel;
    HeadMatrix q, k, v, out;
    Room room;
} Forward;

/* The queries [first, end) of a head, and of each the largest score so far and the sum of the powers. */
typedef struct Item {
    int64_t head, first, end;
    float most[BLOCKS * ATTENTION_MOST_QUERIES], sum[BLOCKS * ATTENTION_MOST_QUERIES];
    char *workspace;
} Item;

typedef struct Tile {
    int64_t key, keys;
    Panels k, v;
} Tile;

/* Turns scores into e^(scale (s - most)), zero where the row may not see, and returns their sum; `scale`
 * is positive. */
CPU_CLONES static float powers_row(float *s, int64_t seen, int64_t n, float scale, float most)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < seen; j++) {
        s[j] = vector_math_exp(scale * (s[j] - most));
        sum += s[j];
    }
    for (int64_t j = seen; j < n; j++) s[j] = 0;
    return sum;
}

CPU_CLONES static float largest(const float *s, int64_t n, float most)
{
    return vector_math_max(s, n, most);
}

CPU_CLONES static void scale_row(float *x, int64_t n, float factor)
{
    for (int64_t j = 0; j < n; j++) x[j] *= factor;
}

/* Row `i` of the item, its scores at `s` and its result so far at `o`. */
static void soften(const Forward *f, Item *item, int64_t i, const Tile *tile, float *s, int64_t n,
                   float *o)
{
    const NodeAttr *attr = &f->call->node->attr;
    const float scale = (float)attr->scale, before = item->most[i];
    const int64_t seen =
        attention_seen_here(attention_seen(attr, item->first + i, 1), tile->key, n);
    const float most = largest(s, seen, before);
    /* where no score so far is a number but -infinity: their powers are 0, and a later tile decides */
    const float sum = powers_row(s, seen, n, scale, most > -INFINITY ? most : 0);
    if (tile->key == 0) {
        item->sum[i] = sum;
    } else {
        const float factor = most > before ? expf(scale * (before - most)) : 1.0F;
        if (factor != 1.0F) scale_row(o, f->q.cols, factor);
        item->sum[i] = item->sum[i] * factor + sum;
    }
    item->most[i] = most;
}

static void add_tile(const Forward *f, Item *item, int64_t block, const Tile *tile)
{
    const Microkernel *kernel = f->kernel;
    const Room *r = &f->room;
    char *w = item->workspace;
    const int64_t D = f->q.cols, ld_out = panels_cpu_ld(kernel, D), first = block * r->block;
    const int64_t rows = attention_smaller(r->block, item->end - item->first - first);
    const int64_t seen = attention_seen(&f->call->node->attr, item->first + first, rows);
    const int64_t n = attention_seen_here(seen, tile->key, tile->keys);
    const int64_t ld = panels_cpu_ld(kernel, n);
    const Panels q = {w + r->queries + block * r->query, tile->k.k};
    float *s = (float *)(void *)(w + r->scores);
    float *o = (float *)(void *)(w + r->results + block * r->result);

    if (n == 0) return;
    panels_cpu_multiply(kernel, q, tile->k, rows, n, D, s, ld, false);
    for (int64_t i = 0; i < rows; i++) {
        soften(f, item, first + i, tile, s + i * ld, n, o + i * ld_out);
    }
    const void *p = attention_operand(kernel, s, rows, n, ld, w + r->rounded);
    const PackSource weights = {p, kernel->operand, ld, 1};
    const Panels a = panels_cpu_rows(kernel, &weights, rows, n, w + r->weights);
    panels_cpu_multiply(kernel, a, tile->v, rows, D, n, o, ld_out, tile->key > 0);
}

static Tile tile_at(const Forward *f, const Item *item, int64_t key, int64_t end)
{
    const int64_t D = f->q.cols, keys = attention_smaller(ATTENTION_KEYS, end - key);
    const PackSource k = head_rows_cpu_lines(&f->k, item->head, key);
    const PackSource v = head_rows_cpu_columns(&f->v, item->head, key);
    return (Tile){key, keys,
                  panels_cpu_columns(f->kernel, &k, keys, D, item->workspace + f->room.keys),
                  panels_cpu_columns(f->kernel, &v, D, keys, item->workspace + f->room.values)};
}

/* Dividing by the sums was left to the result, which is narrower than the scores. */
static void finish(const Forward *f, const Item *item, int64_t block)
{
    const NodeAttr *attr = &f->call->node->attr;
    const int64_t D = f->q.cols, ld = panels_cpu_ld(f->kernel, D);
    const int64_t first = block * f->room.block;
    const int64_t rows = attention_smaller(f->room.block, item->end - item->first - first);
    float *o = (float *)(void *)(item->workspace + f->room.results + block * f->room.result);
    float *lse = (float *)op_out(f->call, 1) + item->head * attr->tokens + item->first;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t row = first + i;
        lse[row] = (float)attr->scale * item->most[row] + logf(item->sum[row]);
        scale_row(o + i * ld, D, 1.0F / item->sum[row]);
    }
    attention_store(&f->out, item->head, item->first + first, rows, o, ld);
}

static void run_item(const Forward *f, Item *item)
{
    const int64_t D = f->q.cols, queries = item->end - item->first;
    const int64_t size = f->room.block, blocks = (queries + size - 1) / size;
    const int64_t end = attention_seen(&f->call->node->attr, item->first, queries);
    for (int64_t i = 0; i < queries; i++) item->most[i] = -INFINITY;
    for (int64_t b = 0; b < blocks; b++) {
        const PackSource q = head_rows_cpu_lines(&f->q, item->head, item->first + b * size);
        panels_cpu_rows(f->kernel, &q, attention_smaller(size, queries - b * size), D,
                        item->workspace + f->room.queries + b * f->room.query);
    }
    for (int64_t key = 0; key < end; key += ATTENTION_KEYS) {
        const Tile tile = tile_at(f, item, key, end);
        for (int64_t b = 0; b < blocks; b++) add_tile(f, item, b, &tile);
    }
    for (int64_t b = 0; b < blocks; b++) finish(f, item, b);
}

static Status run(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    Forward f = {.call = call,
                 .kernel = matmul_flash_kernel(call->plan, call->node),
                 .q = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr),
                 .k = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr),
                 .v = head_matrix(op_in_shape(call, 2), op_in(call, 2), attr),
                 .out = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr)};
    f.room = room_for(f.kernel, f.q.rows, f.q.cols);
    const int64_t piece = BLOCKS * f.room.block;
    const int64_t per_head = (attr->tokens + piece - 1) / piece;
    const int64_t items = f.q.count * per_head;
#pragma omp parallel for schedule(dynamic) num_threads(call->threads)
    for (int64_t i = 0; i < items; i++) {
        /* the longest rows first, so that the last pieces of work are the small ones */
        const int64_t first = (per_head - 1 - i % per_head) * piece;
        Item item = {.head = i / per_head,
                     .first = first,
                     .end = attention_smaller(first + piece, attr->tokens),
                     .workspace = (char *)call->workspace + omp_thread() * f.room.bytes};
        run_item(&f, &item);
    }
    return ST_OK;
}

const OpImpl attention_cpu[] = {{"flash", rows_cpu_declines_f64, workspace, run}, {0}};
