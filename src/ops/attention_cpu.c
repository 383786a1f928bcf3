/* `flash` on a CPU: a block of queries at a time, their scores in the thread's own workspace, so that
 * memory grows with T and not with T^2. Causal blocks beyond the diagonal are never computed. */
#include "ops/blas_cpu.h"
#include "ops/head_rows_cpu.h"
#include "ops/impls_cpu.h"
#include "ops/vector_math.h"

#include <math.h>

enum {
    BLOCK = 96
}; /* queries: whole tiles of BLAS microkernels; 64 and 32 are 12 and 25 % slower */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t blocks(const NodeAttr *attr)
{
    return (attr->tokens + BLOCK - 1) / BLOCK;
}

/* Keys that some query of rows [first, first + rows) sees. */
static int64_t keys_seen(const NodeAttr *attr, int64_t first, int64_t rows)
{
    return attr->causal ? first + rows : attr->tokens;
}

/* Turns scores into probabilities and returns their log-sum-exp; zeros what the row may not see. */
CPU_CLONES static float softmax_row(float *s, int64_t seen, int64_t n)
{
    float most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < seen; j++) most = s[j] > most ? s[j] : most;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < seen; j++) {
        s[j] = vector_math_exp(s[j] - most);
        sum += s[j];
    }
    const float scale = 1.0F / sum;
    for (int64_t j = 0; j < seen; j++) s[j] *= scale;
    for (int64_t j = seen; j < n; j++) s[j] = 0;
    return most + logf(sum);
}

/* Scores of a block, q and its keys and values and result as floats. */
static int64_t forward_floats(const Plan *plan, const Node *node)
{
    const HeadMatrix q = head_matrix(plan_in(plan, node, 0), NULL, &node->attr);
    const int64_t block = smaller(BLOCK, q.rows);
    const int64_t widened = q.dtype == DT_F32 ? 0 : 2 * q.rows * q.cols + 2 * block * q.cols;
    return block * q.rows + widened + 64;
}

static size_t forward_workspace(const Plan *plan, const Node *node, int threads)
{
    return (size_t)threads * (size_t)forward_floats(plan, node) * sizeof(float);
}

typedef struct Heads {
    HeadMatrix q, k, v, out;
} Heads;

static void forward_block(const OpCall *call, const Heads *h, int64_t m, int64_t first, float *w)
{
    const NodeAttr *attr = &call->node->attr;
    const int64_t T = attr->tokens, D = h->q.cols;
    const int64_t rows = smaller(BLOCK, T - first), keys = keys_seen(attr, first, rows);
    float *s = w, *lse = (float *)op_out(call, 1) + m * T + first;
    float *wide = s + smaller(BLOCK, T) * T;
    const HeadRows k = head_rows_cpu_read(&h->k, m, 0, keys, wide);
    const HeadRows v = head_rows_cpu_read(&h->v, m, 0, keys, wide + T * D);
    const HeadRows q = head_rows_cpu_read(&h->q, m, first, rows, wide + 2 * T * D);
    const HeadRows out = head_rows_cpu_target(&h->out, m, first, wide + 2 * T * D + rows * D);

    blas_cpu_sgemm(false, true, rows, keys, D, (float)attr->scale, q.data, q.ld, k.data, k.ld, 0, s,
                   keys);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t seen = attr->causal ? first + i + 1 : T;
        lse[i] = softmax_row(s + i * keys, seen, keys);
    }
    blas_cpu_sgemm(false, false, rows, D, keys, 1, s, keys, v.data, v.ld, 0, out.data, out.ld);
    head_rows_cpu_finish(&h->out, m, first, rows, &out);
}

static Status run(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const Heads h = {.q = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr),
                     .k = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr),
                     .v = head_matrix(op_in_shape(call, 2), op_in(call, 2), attr),
                     .out = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr)};
    const int64_t per_head = blocks(attr), size = forward_floats(call->plan, call->node);
    blas_cpu_set_threads(call->threads);
#pragma omp parallel for schedule(dynamic) num_threads(call->threads)
    for (int64_t i = 0; i < h.q.count * per_head; i++) {
        /* the longest rows first, so that the last pieces of work are the small ones */
        const int64_t block = per_head - 1 - i % per_head;
        forward_block(call, &h, i / per_head, block * BLOCK,
                      (float *)call->workspace + omp_thread() * size);
    }
    return ST_OK;
}

/* ---- backward: one thread for each head, so that dk and dv are summed in a fixed order ---- */

typedef struct GradHeads {
    HeadMatrix dout, q, k, v, dq, dk, dv;
    const float *lse;
} GradHeads;

/* p and dp of a block; dk and dv of a head; q, k, v, dout, dq as floats when they are 16 bit. */
static int64_t grad_floats(const Plan *plan, const Node *node)
{
    const HeadMatrix q = head_matrix(plan_in(plan, node, 1), NULL, &node->attr);
    const int64_t block = smaller(BLOCK, q.rows), all = q.rows * q.cols;
    return 2 * block * q.rows + 4 * all + 3 * block * q.cols + 64;
}

static size_t grad_workspace(const Plan *plan, const Node *node, int threads)
{
    return (size_t)threads * (size_t)grad_floats(plan, node) * sizeof(float);
}

/* p = exp(s - lse), ds = p (dp - delta); both 0 where the row may not see. delta is the sum of p dp
 * and not the dot product of dout and out, which is the same but for rounding: so a row that sees one
 * key only has ds = 0 exactly. */
CPU_CLONES static void grad_row(float *restrict p, float *restrict dp, int64_t seen, int64_t n,
                                float lse)
{
    float delta = 0;
#pragma omp simd reduction(+ : delta)
    for (int64_t j = 0; j < seen; j++) {
        p[j] = vector_math_exp(p[j] - lse);
        delta += p[j] * dp[j];
    }
    for (int64_t j = 0; j < seen; j++) dp[j] = p[j] * (dp[j] - delta);
    for (int64_t j = seen; j < n; j++) p[j] = dp[j] = 0;
}

typedef struct GradRows {
    HeadRows k, v;  /* of the whole head */
    float *dk, *dv; /* sums so far, T x D */
    float *p, *dp;
    float *wide; /* room for one block of q, dout and dq */
} GradRows;

static void grad_block(const OpCall *call, const GradHeads *h, const GradRows *g, int64_t m,
                       int64_t first)
{
    const NodeAttr *attr = &call->node->attr;
    const int64_t T = attr->tokens, D = h->q.cols;
    const int64_t rows = smaller(BLOCK, T - first), keys = keys_seen(attr, first, rows);
    const float scale = (float)attr->scale;
    const HeadRows q = head_rows_cpu_read(&h->q, m, first, rows, g->wide);
    const HeadRows dout = head_rows_cpu_read(&h->dout, m, first, rows, g->wide + rows * D);
    const HeadRows dq = head_rows_cpu_target(&h->dq, m, first, g->wide + 2 * rows * D);

    blas_cpu_sgemm(false, true, rows, keys, D, scale, q.data, q.ld, g->k.data, g->k.ld, 0, g->p,
                   keys);
    blas_cpu_sgemm(false, true, rows, keys, D, 1, dout.data, dout.ld, g->v.data, g->v.ld, 0, g->dp,
                   keys);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t seen = attr->causal ? first + i + 1 : T;
        grad_row(g->p + i * keys, g->dp + i * keys, seen, keys, h->lse[m * T + first + i]);
    }
    blas_cpu_sgemm(true, false, keys, D, rows, 1, g->p, keys, dout.data, dout.ld, 1, g->dv, D);
    blas_cpu_sgemm(true, false, keys, D, rows, scale, g->dp, keys, q.data, q.ld, 1, g->dk, D);
    blas_cpu_sgemm(false, false, rows, D, keys, scale, g->dp, keys, g->k.data, g->k.ld, 0, dq.data,
                   dq.ld);
    head_rows_cpu_finish(&h->dq, m, first, rows, &dq);
}

static void store_head(const HeadMatrix *to, int64_t m, const float *sums)
{
    for (int64_t r = 0; r < to->rows; r++) {
        const int64_t at = head_matrix_start(to, m) + r * to->ld;
        rows_cpu_store(rows_cpu_at(to->data, to->dtype, at), sums + r * to->cols, to->dtype,
                       to->cols);
    }
}

static void grad_head(const OpCall *call, const GradHeads *h, int64_t m, float *w)
{
    const int64_t T = call->node->attr.tokens, D = h->q.cols, all = T * D;
    const int64_t block = smaller(BLOCK, T);
    GradRows g = {.dk = w,
                  .dv = w + all,
                  .p = w + 4 * all,
                  .dp = w + 4 * all + block * T,
                  .wide = w + 4 * all + 2 * block * T};
    for (int64_t i = 0; i < 2 * all; i++) w[i] = 0;
    g.k = head_rows_cpu_read(&h->k, m, 0, T, w + 2 * all);
    g.v = head_rows_cpu_read(&h->v, m, 0, T, w + 3 * all);
    for (int64_t first = 0; first < T; first += BLOCK) grad_block(call, h, &g, m, first);
    store_head(&h->dk, m, g.dk);
    store_head(&h->dv, m, g.dv);
}

static Status run_grad(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const GradHeads h = {.dout = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr),
                         .q = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr),
                         .k = head_matrix(op_in_shape(call, 2), op_in(call, 2), attr),
                         .v = head_matrix(op_in_shape(call, 3), op_in(call, 3), attr),
                         .dq = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr),
                         .dk = head_matrix(op_out_shape(call, 1), op_out(call, 1), attr),
                         .dv = head_matrix(op_out_shape(call, 2), op_out(call, 2), attr),
                         .lse = op_in(call, 5)};
    const int64_t size = grad_floats(call->plan, call->node);
    blas_cpu_set_threads(call->threads);
#pragma omp parallel for schedule(dynamic) num_threads(call->threads)
    for (int64_t m = 0; m < h.q.count; m++) {
        grad_head(call, &h, m, (float *)call->workspace + omp_thread() * size);
    }
    return ST_OK;
}

const OpImpl attention_cpu[] = {{"flash", rows_cpu_declines_f64, forward_workspace, run}, {0}};
const OpImpl attention_grad_cpu[] = {{"flash", rows_cpu_declines_f64, grad_workspace, run_grad},
                                     {0}};
