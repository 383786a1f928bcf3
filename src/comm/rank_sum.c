#include "comm/rank_sum.h"

#include "base/i64.h"
#include "ops/simd_cpu/rows_cpu.h"

#include <string.h>

/* Each element is read before it is written, so that to or also may be a or b. */
CPU_CLONES static void add_pair(float *to, const float *a, const float *b, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = a[i] + b[i];
}

CPU_CLONES static void add_last(float *to, const float *a, const float *b, int64_t n, float scale)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = scale * (a[i] + b[i]);
}

CPU_CLONES static void add_last_twice(float *to, float *also, const float *a, const float *b,
                                      int64_t n, float scale)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const float sum = scale * (a[i] + b[i]);
        to[i] = sum;
        also[i] = sum;
    }
}

CPU_CLONES static void scale_sum(float *x, int64_t n, float scale)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) x[i] *= scale;
}

/* At most ROWS_CHUNK elements from element `at` on. */
static void sum_f32(float *to, float *also, const void *const *x, int ranks, int64_t at, int64_t n,
                    float scale)
{
    float buffer[ROWS_CHUNK];
    const float *sum = (const float *)x[0] + at;
    for (int r = 1; r < ranks - 1; r++) {
        add_pair(buffer, sum, (const float *)x[r] + at, n);
        sum = buffer;
    }
    const float *last = (const float *)x[ranks - 1] + at;
    if (also)
        add_last_twice(to + at, also + at, sum, last, n, scale);
    else
        add_last(to + at, sum, last, n, scale);
}

static void sum_narrow(uint16_t *to, uint16_t *also, const void *const *x, int ranks, int64_t at,
                       int64_t n, DType dtype, float scale)
{
    float buffer[ROWS_CHUNK];
    rows_cpu_load(buffer, rows_cpu_at(x[0], dtype, at), dtype, n);
    for (int r = 1; r < ranks; r++)
        rows_cpu_add_row(buffer, rows_cpu_at(x[r], dtype, at), dtype, n);
    if (scale != 1) scale_sum(buffer, n, scale);
    rows_cpu_store(to + at, buffer, dtype, n);
    if (also) memcpy(also + at, to + at, (size_t)n * sizeof *to);
}

static void sum_f64(double *to, double *also, const void *const *x, int ranks, int64_t at,
                    int64_t n, double scale)
{
    for (int64_t i = at; i < at + n; i++) {
        double sum = ((const double *)x[0])[i];
        for (int r = 1; r < ranks; r++) sum += ((const double *)x[r])[i];
        to[i] = scale * sum;
        if (also) also[i] = to[i];
    }
}

static void copy(void *to, const void *from, size_t bytes)
{
    if (to && to != from && bytes > 0) memcpy(to, from, bytes);
}

void rank_sum(void *to, void *also, const void *const *x, int ranks, int64_t n, DType dtype,
              float scale)
{
    const size_t bytes = (size_t)n * plan_dtype_size(dtype);
    if (ranks == 1) {
        copy(to, x[0], bytes);
        copy(also, x[0], bytes);
        return;
    }
    for (int64_t at = 0; at < n; at += ROWS_CHUNK) {
        const int64_t m = i64_min(ROWS_CHUNK, n - at);
        if (dtype == DT_F32)
            sum_f32(to, also, x, ranks, at, m, scale);
        else if (dtype == DT_F64)
            sum_f64(to, also, x, ranks, at, m, (double)scale);
        else
            sum_narrow(to, also, x, ranks, at, m, dtype, scale);
    }
}
