/* A GEMM of given shape and dtypes by one micro-kernel, checked against float64. */
#pragma once

#include "backend/cpu_features.h"
#include "ops/element.h"
#include "ops/gemm_cpu/gemm_cpu.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdlib.h>

enum { EXTRA = 3 }; /* a leading dimension is this much more than the width */
static const float untouched = -77;

typedef struct Trial {
    const Microkernel *kernel;
    int64_t m, n, k;
    bool transpose_a, transpose_b;
    DType a, b, c;
    int threads;
    float scale;
    bool accumulate; /* to what fill() left in c: `untouched` */
    bool bias;       /* in fp32, numbers of noise() */
    double (*value)(uint64_t i);
} Trial;

/* Operands end with their last element, so that a sanitizer sees any read beyond it. */
typedef struct Matrix {
    int64_t rows, columns, ld;
    DType dtype;
    void *data;
} Matrix;

static inline double noise(uint64_t i)
{
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (double)(x >> 11) * 0x1p-52 - 1;
}

static inline double get(const Matrix *m, int64_t i, int64_t j)
{
    return element_get(m->data, m->dtype, i * m->ld + j);
}

static inline Matrix matrix(int64_t rows, int64_t columns, DType dtype)
{
    Matrix m = {rows, columns, columns + EXTRA, dtype, NULL};
    m.data = malloc((size_t)((rows - 1) * m.ld + columns) * plan_dtype_size(dtype));
    assert_non_null(m.data);
    return m;
}

static inline void fill(Matrix *m, double (*value)(uint64_t), uint64_t seed)
{
    const int64_t n = (m->rows - 1) * m->ld + m->columns;
    for (int64_t i = 0; i < n; i++) {
        element_set(m->data, m->dtype, i, value(seed + (uint64_t)i));
    }
}

static inline double always_untouched(uint64_t i)
{
    (void)i;
    return (double)untouched;
}

static inline PackSource source(const Matrix *m, bool lines_are_rows)
{
    return (PackSource){m->data, m->dtype, lines_are_rows ? m->ld : 1, lines_are_rows ? 1 : m->ld};
}

/* One row, to be freed; NULL: there is none. */
static inline float *bias_of(const Trial *t)
{
    float *bias = t->bias ? malloc((size_t)t->n * sizeof *bias) : NULL;
    for (int64_t j = 0; bias && j < t->n; j++) bias[j] = (float)noise((uint64_t)j + 77);
    return bias;
}

static inline void multiply(const Trial *t, const Matrix *a, const Matrix *b, const Matrix *c)
{
    float *bias = bias_of(t);
    const GemmPlan p = {.kernel = t->kernel,
                        .m = t->m,
                        .n = t->n,
                        .k = t->k,
                        .a = source(a, !t->transpose_a),
                        .b = source(b, t->transpose_b),
                        .c = c->data,
                        .scale = t->scale,
                        .accumulate = t->accumulate,
                        .bias = bias,
                        .bias_dtype = DT_F32,
                        .c_dtype = c->dtype,
                        .ldc = c->ld};
    void *workspace = aligned_alloc(64, (gemm_workspace(&p, t->threads) + 63) / 64 * 64);
    assert_non_null(workspace);
    gemm_multiply(&p, workspace, t->threads);
    free(workspace);
    free(bias);
}

/* Half an ulp for one rounding to the result's dtype, relative. */
static inline double rounding(DType dtype)
{
    return dtype == DT_BF16 ? 0x1p-8 : dtype == DT_F16 ? 0x1p-11 : 0x1p-24;
}

/* Between denormal numbers, where results get that small here. */
static inline double least_step(DType dtype)
{
    return dtype == DT_F16 ? 0x1p-24 : 0;
}

/* k sums in fp32 err by at most k ulps of the sum of absolute products: half an ulp each when rounded to
 * nearest, a whole one when BFMMLA rounds to odd. */
static inline double of_a_sum(const Microkernel *kernel)
{
    return kernel->operand == DT_BF16 ? 0x1p-23 : 0x1p-24;
}

static inline void check_element(const Trial *t, double got, double sum, double absolute)
{
    const double error = (double)t->k * of_a_sum(t->kernel) * absolute;
    const double bound = error + rounding(t->c) * (fabs(sum) + error) + least_step(t->c) / 2;
    const bool same = isnan(sum) ? isnan(got) : isinf(sum) ? got == sum : fabs(got - sum) <= bound;
    if (same) return;
    fail_msg("%s, %lld x %lld x %lld, %c%c, %s * %s = %s, %d threads: %g instead of %g",
             t->kernel->name, (long long)t->m, (long long)t->n, (long long)t->k,
             t->transpose_a ? 't' : 'n', t->transpose_b ? 't' : 'n', plan_dtype_name(t->a),
             plan_dtype_name(t->b), plan_dtype_name(t->c), t->threads, got, sum);
}

static inline void check(const Trial *t, const Matrix *a, const Matrix *b, const Matrix *c)
{
    for (int64_t i = 0; i < t->m; i++) {
        for (int64_t j = 0; j < t->n; j++) {
            double sum = 0, absolute = 0;
            for (int64_t k = 0; k < t->k; k++) {
                const double x = t->transpose_a ? get(a, k, i) : get(a, i, k);
                const double y = t->transpose_b ? get(b, j, k) : get(b, k, j);
                sum += x * y;
                absolute += fabs(x * y);
            }
            const double bias = t->bias ? (double)(float)noise((uint64_t)j + 77) : 0;
            const double before = bias + (t->accumulate ? (double)untouched : 0);
            check_element(t, get(c, i, j), before + t->scale * sum,
                          fabs(before) + fabs(t->scale * absolute));
        }
        for (int64_t j = t->n; i < t->m - 1 && j < c->ld; j++) {
            if (get(c, i, j) != (double)untouched)
                fail_msg("%s wrote between rows", t->kernel->name);
        }
    }
}

static inline void try_one(const Trial *t)
{
    Matrix a = matrix(t->transpose_a ? t->k : t->m, t->transpose_a ? t->m : t->k, t->a);
    Matrix b = matrix(t->transpose_b ? t->n : t->k, t->transpose_b ? t->k : t->n, t->b);
    Matrix c = matrix(t->m, t->n, t->c);
    fill(&a, t->value, 0);
    fill(&b, t->value, 1000003);
    fill(&c, always_untouched, 0);
    multiply(t, &a, &b, &c);
    check(t, &a, &b, &c);
    free(a.data);
    free(b.data);
    free(c.data);
}

/* Every form of transposition. */
static inline void try_forms(Trial t)
{
    for (int form = 0; form < 4; form++) {
        t.transpose_a = form & 1;
        t.transpose_b = form & 2;
        try_one(&t);
    }
}

/* The plain one with private panels: on some machines no other has them. */
static inline const Microkernel *plain_with_private_panels(void)
{
    static Microkernel kernel;
    kernel = microkernel_plain;
    kernel.name = "plain with private panels";
    kernel.private_lines = MICROKERNEL_UNIT;
    return &kernel;
}

/* Micro-panels of the kernel below hold no infinity. */
static inline void pack_finite(PackPanel *pack, void *dst, const PackSource *src, int64_t line,
                               int64_t lines, int64_t first_k, int64_t k)
{
    for (int64_t i = 0; i < lines * k; i++) {
        const int64_t at = (line + i / k) * src->line_step + (first_k + i % k) * src->k_step;
        if (isinf(element_get(src->data, src->dtype, at)))
            __atomic_store_n(src->unpackable, true, __ATOMIC_RELAXED);
    }
    pack(dst, src, line, lines, first_k, k);
}

static inline void pack_finite_a(void *restrict dst, const PackSource *src, int64_t line,
                                 int64_t lines, int64_t first_k, int64_t k)
{
    pack_finite(microkernel_plain.pack_a, dst, src, line, lines, first_k, k);
}

static inline void pack_finite_b(void *restrict dst, const PackSource *src, int64_t line,
                                 int64_t lines, int64_t first_k, int64_t k)
{
    pack_finite(microkernel_plain.pack_b, dst, src, line, lines, first_k, k);
}

/* One with a fallback, which only AMX has. */
static inline const Microkernel *plain_with_fallback(void)
{
    static Microkernel kernel;
    kernel = *plain_with_private_panels();
    kernel.name = "plain with a fallback";
    kernel.pack_a = pack_finite_a;
    kernel.pack_b = pack_finite_b;
    kernel.fallback = &microkernel_plain;
    kernel.mc = 0; /* as AMX: all panels are shared only where a product is accumulated */
    return &kernel;
}

/* Each kernel that runs here, and those two. */
static inline const Microkernel *next_kernel(int *i)
{
    for (; *i >= 0; ++*i) {
        const Microkernel *kernel = microkernel_list[*i];
        if (!kernel) break;
        if (kernel->needs && !cpu_features_has(kernel->needs)) continue;
        ++*i;
        return kernel;
    }
    if (*i == -1) return NULL;
    const bool listed = *i >= 0;
    *i = listed ? -2 : -1;
    return listed ? plain_with_private_panels() : plain_with_fallback();
}

static inline Trial trial(const Microkernel *kernel)
{
    return (Trial){.kernel = kernel,
                   .a = kernel->operand,
                   .b = kernel->operand,
                   .c = DT_F32,
                   .threads = 1,
                   .scale = 1,
                   .value = noise};
}

static inline void hold_same(const Trial *t, const Matrix *one, const Matrix *more)
{
    for (int64_t i = 0; i < t->m; i++) {
        for (int64_t j = 0; j < t->n; j++) {
            if (get(one, i, j) != get(more, i, j))
                fail_msg("%s: %d threads, row %lld, column %lld", t->kernel->name, t->threads,
                         (long long)i, (long long)j);
        }
    }
}
