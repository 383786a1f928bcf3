/* `flash` on a CPU: a block of queries at a time, their scores in the thread's own workspace, so that
 * memory grows with T and not with T^2. Causal blocks beyond the diagonal are never computed.
 *
 * The products are those of our microkernels: keys and values are packed once for many blocks. Where the
 * processor multiplies bf16, probabilities and their gradients are rounded to it, as on a GPU. */
#include "ops/head_matrix.h"
#include "ops/impls_cpu.h"
#include "ops/panels_cpu.h"
#include "ops/vector_math.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 48,      /* queries: whole tiles of most kernels; fewer skip more beyond the diagonal */
    ITEM = 5 * BLOCK /* queries of a piece of work, for which keys and values are packed once */
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Keys that some query of rows [first, first + rows) sees. */
static int64_t keys_seen(const NodeAttr *attr, int64_t first, int64_t rows)
{
    return attr->causal ? first + rows : attr->tokens;
}

/* Of bf16 where all the node reads is, and the processor multiplies it. */
static const Microkernel *kernel_for(const Plan *plan, const Node *node)
{
    bool bf16 = true;
    const int heads = node->op == OP_attention ? 3 : 4;
    for (int i = 0; i < heads; i++) bf16 = bf16 && plan_in(plan, node, i)->dtype == DT_BF16;
    const Microkernel *kernel = bf16 ? microkernel_find(DT_BF16) : NULL;
    return kernel ? kernel : microkernel_find(DT_F32);
}

/* Head `m` from row `first` on; its lines are rows, or columns. */
static PackSource rows_of(const HeadMatrix *h, int64_t m, int64_t first)
{
    const int64_t at = head_matrix_start(h, m) + first * h->ld;
    return (PackSource){rows_cpu_at(h->data, h->dtype, at), h->dtype, h->ld, 1};
}

static PackSource columns_of(const HeadMatrix *h, int64_t m, int64_t first)
{
    const PackSource rows = rows_of(h, m, first);
    return (PackSource){rows.data, rows.dtype, 1, rows.line_step};
}

/* A block of floats as the kernel's operand: where they are, or rounded into `buffer`, rows ld apart. */
static const void *as_operand(const Microkernel *kernel, const float *x, int64_t rows,
                              int64_t width, int64_t ld, void *buffer)
{
    if (kernel->operand == DT_F32) return x;
    for (int64_t i = 0; i < rows; i++) {
        rows_cpu_store(rows_cpu_at(buffer, kernel->operand, i * ld), x + i * ld, kernel->operand,
                       width);
    }
    return buffer;
}

static void store_rows(const HeadMatrix *to, int64_t m, int64_t first, int64_t rows, const float *x,
                       int64_t ld)
{
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = head_matrix_start(to, m) + (first + r) * to->ld;
        rows_cpu_store(rows_cpu_at(to->data, to->dtype, at), x + r * ld, to->dtype, to->cols);
    }
}

/* ---- a thread's workspace: where each part begins ---- */

static int64_t after(int64_t *bytes, int64_t more)
{
    const int64_t at = *bytes;
    *bytes += more;
    return at;
}

typedef struct ForwardRoom {
    int64_t keys, values, queries, scores, rounded, weights, result, bytes;
} ForwardRoom;

static ForwardRoom forward_room(const Microkernel *kernel, int64_t T, int64_t D)
{
    const int64_t block = smaller(BLOCK, T), scores = panels_cpu_result_bytes(kernel, block, T);
    ForwardRoom r = {0};
    r.keys = after(&r.bytes, panels_cpu_columns_bytes(kernel, T, D));
    r.values = after(&r.bytes, panels_cpu_columns_bytes(kernel, D, T));
    r.queries = after(&r.bytes, panels_cpu_rows_bytes(kernel, block, D));
    r.scores = after(&r.bytes, scores);
    r.rounded = after(&r.bytes, kernel->operand == DT_F32 ? 0 : scores);
    r.weights = after(&r.bytes, panels_cpu_rows_bytes(kernel, block, T));
    r.result = after(&r.bytes, panels_cpu_result_bytes(kernel, block, D));
    return r;
}

static size_t forward_workspace(const Plan *plan, const Node *node, int threads)
{
    const HeadMatrix q = head_matrix(plan_in(plan, node, 0), NULL, &node->attr);
    return (size_t)threads * (size_t)forward_room(kernel_for(plan, node), q.rows, q.cols).bytes;
}

typedef struct Forward {
    const OpCall *call;
    const Microkernel *kernel;
    HeadMatrix q, k, v, out;
    ForwardRoom room;
} Forward;

/* Turns scores into e^(scale (s - most)), zero where the row may not see, and returns their sum; `scale`
 * is positive. */
CPU_CLONES static float powers_row(float *s, int64_t seen, int64_t n, float scale, float *most)
{
    float sum = 0;
    const float max = vector_math_max(s, seen, -INFINITY);
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < seen; j++) {
        s[j] = vector_math_exp(scale * (s[j] - max));
        sum += s[j];
    }
    for (int64_t j = seen; j < n; j++) s[j] = 0;
    *most = max;
    return sum;
}

CPU_CLONES static void scale_row(float *x, int64_t n, float factor)
{
    for (int64_t j = 0; j < n; j++) x[j] *= factor;
}

/* Dividing by the sums is left to the result, which is narrower. */
static void forward_block(const Forward *f, Panels keys, Panels values, int64_t m, int64_t first,
                          char *w)
{
    const NodeAttr *attr = &f->call->node->attr;
    const Microkernel *kernel = f->kernel;
    const int64_t T = attr->tokens, D = f->q.cols, rows = smaller(BLOCK, T - first);
    const int64_t n = keys_seen(attr, first, rows), ld = panels_cpu_ld(kernel, n);
    const int64_t ld_out = panels_cpu_ld(kernel, D);
    const PackSource from = rows_of(&f->q, m, first);
    const Panels q = panels_cpu_rows(kernel, &from, rows, D, w + f->room.queries);
    float *s = (float *)(void *)(w + f->room.scores), *o = (float *)(void *)(w + f->room.result);
    float *lse = (float *)op_out(f->call, 1) + m * T + first, factor[BLOCK];

    panels_cpu_multiply(kernel, q, keys, rows, n, D, s, ld, false);
    for (int64_t i = 0; i < rows; i++) {
        float most = 0;
        const float scale = (float)attr->scale;
        const float sum = powers_row(s + i * ld, keys_seen(attr, first + i, 1), n, scale, &most);
        lse[i] = scale * most + logf(sum);
        factor[i] = 1.0F / sum;
    }
    const void *p = as_operand(kernel, s, rows, n, ld, w + f->room.rounded);
    const PackSource weights = {p, kernel->operand, ld, 1};
    const Panels a = panels_cpu_rows(kernel, &weights, rows, n, w + f->room.weights);
    panels_cpu_multiply(kernel, a, values, rows, D, n, o, ld_out, false);
    for (int64_t i = 0; i < rows; i++) scale_row(o + i * ld_out, D, factor[i]);
    store_rows(&f->out, m, first, rows, o, ld_out);
}

static void forward_item(const Forward *f, int64_t m, int64_t first, char *w)
{
    const NodeAttr *attr = &f->call->node->attr;
    const int64_t D = f->q.cols, end = smaller(first + ITEM, attr->tokens);
    const int64_t n = keys_seen(attr, first, end - first);
    const PackSource k = rows_of(&f->k, m, 0), v = columns_of(&f->v, m, 0);
    const Panels keys = panels_cpu_columns(f->kernel, &k, n, D, w + f->room.keys);
    const Panels values = panels_cpu_columns(f->kernel, &v, D, n, w + f->room.values);
    for (int64_t i = first; i < end; i += BLOCK) forward_block(f, keys, values, m, i, w);
}

static Status run(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const Microkernel *kernel = kernel_for(call->plan, call->node);
    Forward f = {.call = call,
                 .kernel = kernel,
                 .q = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr),
                 .k = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr),
                 .v = head_matrix(op_in_shape(call, 2), op_in(call, 2), attr),
                 .out = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr)};
    f.room = forward_room(kernel, f.q.rows, f.q.cols);
    const int64_t per_head = (attr->tokens + ITEM - 1) / ITEM;
#pragma omp parallel for schedule(dynamic) num_threads(call->threads)
    for (int64_t i = 0; i < f.q.count * per_head; i++) {
        /* the longest rows first, so that the last pieces of work are the small ones */
        const int64_t item = per_head - 1 - i % per_head;
        forward_item(&f, i / per_head, item * ITEM,
                     (char *)call->workspace + omp_thread() * f.room.bytes);
    }
    return ST_OK;
}

/* ---- backward: one thread for each head, so that dk and dv are summed in a fixed order ---- */

typedef struct GradRoom {
    int64_t keys, values, keys_t; /* of a head; keys_t: along the keys */
    int64_t q, dout, q_t, dout_t; /* of a block, along the width and along the queries */
    int64_t p, ds, rounded_p, rounded_ds, p_t, ds_t, ds_rows;
    int64_t dq, dk, dv, bytes;
} GradRoom;

static GradRoom grad_room(const Microkernel *kernel, int64_t T, int64_t D)
{
    const int64_t block = smaller(BLOCK, T), scores = panels_cpu_result_bytes(kernel, block, T);
    const int64_t rounded = kernel->operand == DT_F32 ? 0 : scores;
    GradRoom r = {0};
    r.keys = after(&r.bytes, panels_cpu_columns_bytes(kernel, T, D));
    r.values = after(&r.bytes, panels_cpu_columns_bytes(kernel, T, D));
    r.keys_t = after(&r.bytes, panels_cpu_columns_bytes(kernel, D, T));
    r.q = after(&r.bytes, panels_cpu_rows_bytes(kernel, block, D));
    r.dout = after(&r.bytes, panels_cpu_rows_bytes(kernel, block, D));
    r.q_t = after(&r.bytes, panels_cpu_columns_bytes(kernel, D, block));
    r.dout_t = after(&r.bytes, panels_cpu_columns_bytes(kernel, D, block));
    r.p = after(&r.bytes, scores);
    r.ds = after(&r.bytes, scores);
    r.rounded_p = after(&r.bytes, rounded);
    r.rounded_ds = after(&r.bytes, rounded);
    r.p_t = after(&r.bytes, panels_cpu_rows_bytes(kernel, T, block));
    r.ds_t = after(&r.bytes, panels_cpu_rows_bytes(kernel, T, block));
    r.ds_rows = after(&r.bytes, panels_cpu_rows_bytes(kernel, block, T));
    r.dq = after(&r.bytes, panels_cpu_result_bytes(kernel, block, D));
    r.dk = after(&r.bytes, panels_cpu_result_bytes(kernel, T, D));
    r.dv = after(&r.bytes, panels_cpu_result_bytes(kernel, T, D));
    return r;
}

static size_t grad_workspace(const Plan *plan, const Node *node, int threads)
{
    const HeadMatrix q = head_matrix(plan_in(plan, node, 1), NULL, &node->attr);
    return (size_t)threads * (size_t)grad_room(kernel_for(plan, node), q.rows, q.cols).bytes;
}

typedef struct Backward {
    const OpCall *call;
    const Microkernel *kernel;
    HeadMatrix dout, q, k, v, dq, dk, dv;
    const float *lse;
    GradRoom room;
} Backward;

/* From scaled scores: p = exp(s - lse), ds = scale p (dp - delta); both 0 where the row may not see. delta is
 * the sum of p dp and not the dot product of dout and out, which is the same but for rounding: so a row that
 * sees one key only has ds = 0 exactly. (Scaled in a loop of its own, because a fused multiply-add would not
 * meet lse exactly.) */
CPU_CLONES static void score_grad_row(float *restrict p, float *restrict dp, int64_t seen,
                                      int64_t n, float scale, float lse)
{
    float delta = 0;
#pragma omp simd reduction(+ : delta)
    for (int64_t j = 0; j < seen; j++) {
        p[j] = vector_math_exp(p[j] - lse);
        delta += p[j] * dp[j];
    }
    for (int64_t j = 0; j < seen; j++) dp[j] = scale * p[j] * (dp[j] - delta);
    for (int64_t j = seen; j < n; j++) p[j] = dp[j] = 0;
}

/* Scores and their gradients of a block, as operands of the products that follow. */
typedef struct Block {
    int64_t head, first, rows, keys, ld;
    const void *p, *ds;
} Block;

static void grad_scores(const Backward *g, Block *b, Panels keys, Panels values, char *w)
{
    const NodeAttr *attr = &g->call->node->attr;
    const Microkernel *kernel = g->kernel;
    const int64_t D = g->q.cols;
    const PackSource q = rows_of(&g->q, b->head, b->first);
    const PackSource dout = rows_of(&g->dout, b->head, b->first);
    const Panels q_rows = panels_cpu_rows(kernel, &q, b->rows, D, w + g->room.q);
    const Panels dout_rows = panels_cpu_rows(kernel, &dout, b->rows, D, w + g->room.dout);
    float *p = (float *)(void *)(w + g->room.p), *ds = (float *)(void *)(w + g->room.ds);
    const float *lse = g->lse + b->head * attr->tokens + b->first, scale = (float)attr->scale;

    panels_cpu_multiply(kernel, q_rows, keys, b->rows, b->keys, D, p, b->ld, false);
    panels_cpu_multiply(kernel, dout_rows, values, b->rows, b->keys, D, ds, b->ld, false);
    for (int64_t i = 0; i < b->rows; i++) {
        const int64_t seen = keys_seen(attr, b->first + i, 1);
        scale_row(p + i * b->ld, seen, scale);
        score_grad_row(p + i * b->ld, ds + i * b->ld, seen, b->keys, scale, lse[i]);
    }
    b->p = as_operand(kernel, p, b->rows, b->keys, b->ld, w + g->room.rounded_p);
    b->ds = as_operand(kernel, ds, b->rows, b->keys, b->ld, w + g->room.rounded_ds);
}

/* sums[keys, D] += x^T y, where x is p or ds of the block and y its rows of dout or q. */
static void add_product(const Backward *g, const Block *b, const void *x, const HeadMatrix *y,
                        int64_t x_room, int64_t y_room, int64_t sums, char *w)
{
    const int64_t D = g->q.cols;
    const PackSource left = {x, g->kernel->operand, 1, b->ld};
    const PackSource right = columns_of(y, b->head, b->first);
    const Panels a = panels_cpu_rows(g->kernel, &left, b->keys, b->rows, w + x_room);
    const Panels c = panels_cpu_columns(g->kernel, &right, D, b->rows, w + y_room);
    panels_cpu_multiply(g->kernel, a, c, b->keys, D, b->rows, (float *)(void *)(w + sums),
                        panels_cpu_ld(g->kernel, D), true);
}

static void grad_queries(const Backward *g, const Block *b, Panels keys_t, char *w)
{
    const int64_t D = g->q.cols, ld = panels_cpu_ld(g->kernel, D);
    const PackSource ds = {b->ds, g->kernel->operand, b->ld, 1};
    const Panels a = panels_cpu_rows(g->kernel, &ds, b->rows, b->keys, w + g->room.ds_rows);
    float *dq = (float *)(void *)(w + g->room.dq);
    panels_cpu_multiply(g->kernel, a, keys_t, b->rows, D, b->keys, dq, ld, false);
    store_rows(&g->dq, b->head, b->first, b->rows, dq, ld);
}

static void grad_head(const Backward *g, int64_t m, char *w)
{
    const NodeAttr *attr = &g->call->node->attr;
    const Microkernel *kernel = g->kernel;
    const GradRoom *r = &g->room;
    const int64_t T = attr->tokens, D = g->q.cols, ld = panels_cpu_ld(kernel, D);
    const PackSource k = rows_of(&g->k, m, 0), v = rows_of(&g->v, m, 0);
    const PackSource k_t = columns_of(&g->k, m, 0);
    const Panels keys = panels_cpu_columns(kernel, &k, T, D, w + r->keys);
    const Panels values = panels_cpu_columns(kernel, &v, T, D, w + r->values);
    const Panels keys_t = panels_cpu_columns(kernel, &k_t, D, T, w + r->keys_t);
    memset(w + r->dk, 0, (size_t)(r->bytes - r->dk)); /* dk and dv: the last of the workspace */
    for (int64_t first = 0; first < T; first += BLOCK) {
        Block b = {.head = m, .first = first, .rows = smaller(BLOCK, T - first)};
        b.keys = keys_seen(attr, first, b.rows);
        b.ld = panels_cpu_ld(kernel, b.keys);
        grad_scores(g, &b, keys, values, w);
        add_product(g, &b, b.p, &g->dout, r->p_t, r->dout_t, r->dv, w);
        add_product(g, &b, b.ds, &g->q, r->ds_t, r->q_t, r->dk, w);
        grad_queries(g, &b, keys_t, w);
    }
    store_rows(&g->dk, m, 0, T, (float *)(void *)(w + r->dk), ld);
    store_rows(&g->dv, m, 0, T, (float *)(void *)(w + r->dv), ld);
}

static Status run_grad(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    Backward g = {.call = call,
                  .kernel = kernel_for(call->plan, call->node),
                  .dout = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr),
                  .q = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr),
                  .k = head_matrix(op_in_shape(call, 2), op_in(call, 2), attr),
                  .v = head_matrix(op_in_shape(call, 3), op_in(call, 3), attr),
                  .dq = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr),
                  .dk = head_matrix(op_out_shape(call, 1), op_out(call, 1), attr),
                  .dv = head_matrix(op_out_shape(call, 2), op_out(call, 2), attr),
                  .lse = op_in(call, 5)};
    g.room = grad_room(g.kernel, g.q.rows, g.q.cols);
#pragma omp parallel for schedule(dynamic) num_threads(call->threads)
    for (int64_t m = 0; m < g.q.count; m++) {
        grad_head(&g, m, (char *)call->workspace + omp_thread() * g.room.bytes);
    }
    return ST_OK;
}

const OpImpl attention_cpu[] = {{"flash", rows_cpu_declines_f64, forward_workspace, run}, {0}};
const OpImpl attention_grad_cpu[] = {{"flash", rows_cpu_declines_f64, grad_workspace, run_grad},
                                     {0}};
