/* Attention in float64, written down once more: what every implementation is held to. Inputs are exact in
 * every format, so one reference serves all precisions. */
#pragma once

#include "attention_plan.h"
#include "backend/cpu_threads.h"
#include "backend/thread_team.h"

#include <stdlib.h>
#include <string.h>

/* One case's operands and results as doubles, head by head: [B H][T][D], and [B kv_heads][T][D]. */
typedef struct AttentionCase {
    AttentionShape s;
    double *q, *k, *v, *dout, *out, *lse, *delta, *dq, *dk, *dv;
} AttentionCase;

static inline int64_t attention_case_head(const AttentionCase *c)
{
    return c->s.T * c->s.D;
}

/* Heads of q that share one of k and v. */
static inline int64_t attention_case_group(const AttentionCase *c)
{
    return c->s.H / attention_plan_kv_heads(&c->s);
}

static inline double *attention_case_doubles(int64_t n)
{
    double *x = calloc((size_t)n + 1, sizeof *x);
    if (!x) exit(1);
    return x;
}

/* 64ths in [-1, 1]: exact in bf16. */
static inline void attention_case_draw(double *x, int64_t n, unsigned seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int64_t i = 0; i < n; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        x[i] = (double)((int)(state >> 40) % 129 - 64) / 64;
    }
}

static inline double attention_case_dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static inline void attention_case_add(double *to, double factor, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] += factor * x[i];
}

/* lse, out, delta and dq of query i of head h. */
static inline void attention_case_query(const AttentionCase *c, int64_t h, int64_t i, double *s)
{
    const int64_t T = c->s.T, D = c->s.D, at = h * T * D, end = c->s.causal ? i + 1 : T;
    const int64_t first = c->s.window > 0 && end > c->s.window ? end - c->s.window : 0;
    const double *q = c->q + at + i * D, *dout = c->dout + at + i * D;
    const double *k = c->k + h / attention_case_group(c) * T * D;
    const double *v = c->v + h / attention_case_group(c) * T * D;
    double most = -INFINITY, sum = 0;
    for (int64_t j = first; j < end; j++) {
        s[j] = c->s.scale * attention_case_dot(q, k + j * D, D);
        most = fmax(most, s[j]);
    }
    for (int64_t j = first; j < end; j++) sum += exp(s[j] - most);
    const double lse = c->lse[h * T + i] = most + log(sum);
    for (int64_t j = first; j < end; j++) {
        attention_case_add(c->out + at + i * D, exp(s[j] - lse), v + j * D, D);
    }
    const double delta = c->delta[h * T + i] = attention_case_dot(dout, c->out + at + i * D, D);
    for (int64_t j = first; j < end; j++) {
        const double dp = attention_case_dot(dout, v + j * D, D);
        attention_case_add(c->dq + at + i * D, c->s.scale * exp(s[j] - lse) * (dp - delta),
                           k + j * D, D);
    }
}

/* What head h of q adds to dk and dv of key j of the head that it reads. */
static inline void attention_case_key(const AttentionCase *c, int64_t h, int64_t j)
{
    const int64_t T = c->s.T, D = c->s.D, at = h * T * D;
    const int64_t key = (h / attention_case_group(c) * T + j) * D;
    const int64_t end = c->s.window > 0 && j + c->s.window < T ? j + c->s.window : T;
    const double *k = c->k + key, *v = c->v + key;
    for (int64_t i = c->s.causal ? j : 0; i < end; i++) {
        const double *q = c->q + at + i * D, *dout = c->dout + at + i * D;
        const double p = exp(c->s.scale * attention_case_dot(q, k, D) - c->lse[h * T + i]);
        const double ds = c->s.scale * p * (attention_case_dot(dout, v, D) - c->delta[h * T + i]);
        attention_case_add(c->dv + key, p, dout, D);
        attention_case_add(c->dk + key, ds, q, D);
    }
}

static inline void attention_case_queries(const void *data, int64_t first, int64_t last, int thread)
{
    const AttentionCase *c = data;
    double *s = attention_case_doubles(c->s.T);
    (void)thread;
    for (int64_t r = first; r < last; r++) attention_case_query(c, r / c->s.T, r % c->s.T, s);
    free(s);
}

static inline void attention_case_keys(const void *data, int64_t first, int64_t last, int thread)
{
    const AttentionCase *c = data;
    const int64_t group = attention_case_group(c);
    (void)thread;
    for (int64_t r = first; r < last; r++) {
        for (int64_t g = 0; g < group; g++)
            attention_case_key(c, r / c->s.T * group + g, r % c->s.T);
    }
}

/* Of the operands as they are now. */
static inline void attention_case_results(AttentionCase *c)
{
    const int64_t rows = c->s.B * c->s.H * c->s.T, keys = rows / attention_case_group(c);
    double *sums[] = {c->out, c->dq, c->dk, c->dv};
    for (int i = 0; i < 4; i++) {
        memset(sums[i], 0, (size_t)((i < 2 ? rows : keys) * c->s.D) * sizeof(double));
    }
    const int threads = cpu_threads_processors();
    thread_team_for(threads, rows, 16, attention_case_queries, c);
    thread_team_for(threads, keys, 16, attention_case_keys, c);
}

static inline AttentionCase attention_case_make(const AttentionShape *s)
{
    AttentionCase c = {.s = *s};
    const int64_t n = s->B * s->H * s->T * s->D, rows = s->B * s->H * s->T;
    const int64_t keys = n / attention_case_group(&c);
    double **all[] = {&c.q, &c.k, &c.v, &c.dout, &c.out, &c.dq, &c.dk, &c.dv};
    const int64_t size[] = {n, keys, keys, n, n, n, keys, keys};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) *all[i] = attention_case_doubles(size[i]);
    for (unsigned i = 0; i < 4; i++) attention_case_draw(*all[i], size[i], i + 1);
    c.lse = attention_case_doubles(rows);
    c.delta = attention_case_doubles(rows);
    if (c.s.scale <= 0) c.s.scale = 1 / sqrt((double)s->D);
    attention_case_results(&c);
    return c;
}

static inline void attention_case_free(AttentionCase *c)
{
    double *all[] = {c->q, c->k, c->v, c->dout, c->out, c->lse, c->delta, c->dq, c->dk, c->dv};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* ---- how far a result may be off: the rounding of what is stored ---- */

static inline double attention_case_bound(const AttentionShape *s)
{
    if (s->dtype == DT_F32) return s->tf32 ? 2e-3 : 1e-5;
    return s->dtype == DT_BF16 ? 0x1p-8 : 0x1p-11;
}

/* p and ds are rounded to 16 bits between the products, and delta comes from a result that was rounded:
 * dp - delta nearly cancels, and where heads have a few columns or there are a few numbers altogether
 * the roundings need not average out. */
static inline double attention_case_slack(const AttentionShape *s)
{
    if (s->T * s->D < 256) return 16;
    return s->D < 4 ? 4 : 2;
}
