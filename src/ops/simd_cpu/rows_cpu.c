#include "ops/simd_cpu/rows_cpu.h"

#include "base/i64.h"
#include "ops/simd_cpu/vector_math.h"

#include <string.h>

CPU_CLONES void rows_cpu_add(float *restrict sum, const float *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) sum[i] += x[i];
}

CPU_CLONES float rows_cpu_max(const float *x, int64_t n, float max)
{
    return vector_math_max(x, n, max);
}

CPU_CLONES static void from_bf16(float *restrict dst, const uint16_t *restrict src, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dst[i] = float16_from_bf16(src[i]);
}

CPU_CLONES static void from_f16(float *restrict dst, const uint16_t *restrict src, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dst[i] = float16_from_f16(src[i]);
}

CPU_CLONES static void to_bf16(uint16_t *restrict dst, const float *restrict src, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dst[i] = float16_to_bf16(src[i]);
}

CPU_CLONES static void to_f16(uint16_t *restrict dst, const float *restrict src, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dst[i] = float16_to_f16(src[i]);
}

CPU_CLONES static void from_e4m3(float *restrict dst, const uint8_t *restrict src, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dst[i] = float8_from(FLOAT8_E4M3, src[i]);
}

CPU_CLONES static void from_e5m2(float *restrict dst, const uint8_t *restrict src, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dst[i] = float8_from(FLOAT8_E5M2, src[i]);
}

CPU_CLONES static void to_e4m3(uint8_t *restrict dst, const float *restrict src, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dst[i] = float8_to(FLOAT8_E4M3, src[i]);
}

CPU_CLONES static void to_e5m2(uint8_t *restrict dst, const float *restrict src, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dst[i] = float8_to(FLOAT8_E5M2, src[i]);
}

void rows_cpu_load(float *restrict dst, const void *restrict src, DType dtype, int64_t n)
{
    if (dtype == DT_BF16) {
        from_bf16(dst, src, n);
    } else if (dtype == DT_F16) {
        from_f16(dst, src, n);
    } else if (dtype == DT_E4M3) {
        from_e4m3(dst, src, n);
    } else if (dtype == DT_E5M2) {
        from_e5m2(dst, src, n);
    } else if (dtype != DT_F32) {
        plan_dtype_unknown(dtype, "rows_cpu_load()");
    } else {
        memcpy(dst, src, (size_t)n * sizeof *dst);
    }
}

void rows_cpu_store(void *restrict dst, const float *restrict src, DType dtype, int64_t n)
{
    if (dtype == DT_BF16) {
        const int64_t done = rows_cpu_narrow_bf16(dst, src, n);
        to_bf16((uint16_t *)dst + done, src + done, n - done);
    } else if (dtype == DT_F16) {
        to_f16(dst, src, n);
    } else if (dtype == DT_E4M3) {
        to_e4m3(dst, src, n);
    } else if (dtype == DT_E5M2) {
        to_e5m2(dst, src, n);
    } else if (dtype != DT_F32) {
        plan_dtype_unknown(dtype, "rows_cpu_store()");
    } else {
        memcpy(dst, src, (size_t)n * sizeof *src);
    }
}

void rows_cpu_convert(void *restrict dst, DType to, const void *restrict src, DType from, int64_t n)
{
    float buffer[ROWS_CHUNK];
    if (to == from) {
        memcpy(dst, src, (size_t)n * plan_dtype_size(to));
    } else if (to == DT_F32) {
        rows_cpu_load(dst, src, from, n);
    } else {
        for (int64_t i = 0; i < n; i += ROWS_CHUNK) {
            const int64_t m = i64_min(ROWS_CHUNK, n - i);
            const float *wide = rows_cpu_read(rows_cpu_at(src, from, i), from, m, buffer);
            rows_cpu_store(rows_cpu_at(dst, to, i), wide, to, m);
        }
    }
}

void rows_cpu_add_row(float *restrict sum, const void *restrict x, DType dtype, int64_t n)
{
    float buffer[ROWS_CHUNK];
    for (int64_t i = 0; i < n; i += ROWS_CHUNK) {
        const int64_t m = i64_min(ROWS_CHUNK, n - i);
        rows_cpu_add(sum + i, rows_cpu_read(rows_cpu_at(x, dtype, i), dtype, m, buffer), m);
    }
}

static const char reference_only[] = "float64 has the reference only";

const char *rows_cpu_refuse_f64(const Tensor *t)
{
    return t->dtype == DT_F64 ? reference_only : NULL;
}

const char *rows_cpu_declines_f64(const Plan *plan, const Node *node)
{
    return op_has_f64(plan, node) ? reference_only : NULL;
}

/* Buffers of two threads share no cache line. */
static int64_t buffer_floats(const Tensor *t)
{
    return plan_width(t) + 64 / (int64_t)sizeof(float);
}

size_t rows_cpu_buffers(const Plan *plan, const Node *node, int threads)
{
    return (size_t)(threads * 2 * buffer_floats(plan_in(plan, node, 0))) * sizeof(float);
}

float *rows_cpu_buffer(const OpCall *call, int thread, int i)
{
    return (float *)call->workspace + (thread * 2 + i) * buffer_floats(op_in_shape(call, 0));
}
