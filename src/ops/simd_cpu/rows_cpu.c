#include "ops/simd_cpu/rows_cpu.h"

#include <string.h>

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

void rows_cpu_load(float *restrict dst, const void *restrict src, DType dtype, int64_t n)
{
    if (dtype == DT_BF16) {
        from_bf16(dst, src, n);
    } else if (dtype == DT_F16) {
        from_f16(dst, src, n);
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
    } else if (dtype != DT_F32) {
        plan_dtype_unknown(dtype, "rows_cpu_store()");
    } else {
        memcpy(dst, src, (size_t)n * sizeof *src);
    }
}

const char *rows_cpu_refuse_f64(const Tensor *t)
{
    return t && t->dtype == DT_F64 ? "float64 has the reference only" : NULL;
}

const char *rows_cpu_declines_f64(const Plan *plan, const Node *node)
{
    const char *why = NULL;
    for (int i = 0; !why && i < node->n_out + node->n_in; i++) {
        const int id = plan->operands[node->first + i];
        if (id != PLAN_NONE) why = rows_cpu_refuse_f64(&plan->tensors[id]);
    }
    return why;
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

Status rows_cpu_run(const OpCall *call, int64_t rows, ThreadTeamRange *body)
{
    enum { AT_A_TIME = 8 };
    thread_team_for(call->threads, rows, AT_A_TIME, body, call);
    return ST_OK;
}
