/* Rows of numbers on the CPU: 16-bit operands are widened to floats in cache-sized pieces, so that
 * every kernel is written once, in float. Only files named *_cpu.c include it. */
#pragma once

#include "backend/thread_team.h"
#include "base/float8.h"
#include "ops/op.h"

/* Loops that matter are compiled for several x86 levels and chosen when the program starts.
 * Sanitized builds start too early for such a choice. */
#if defined(__x86_64__) && !defined(ROOFSTEP_SANITIZED) && !defined(ROOFSTEP_NO_CLONES)
#define CPU_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CPU_CLONES
#endif

enum { ROWS_CHUNK = 1024 }; /* elements widened at a time: 4 KiB of floats */

/* dst = src widened to float. */
void rows_cpu_load(float *restrict dst, const void *restrict src, DType dtype, int64_t n);
/* dst = src rounded to dtype. */
void rows_cpu_store(void *restrict dst, const float *restrict src, DType dtype, int64_t n);
/* dst = src, from one dtype to another. */
void rows_cpu_convert(void *restrict dst, DType to, const void *restrict src, DType from,
                      int64_t n);

void rows_cpu_add(float *restrict sum, const float *restrict x, int64_t n); /* sum += x */
/* The same, x of any dtype. */
void rows_cpu_add_row(float *restrict sum, const void *restrict x, DType dtype, int64_t n);
/* The largest of n numbers and `max`; NaN is passed over. */
float rows_cpu_max(const float *x, int64_t n, float max);

/* Rounds as many of the first numbers as the processor's own instructions take, to the same bits, and
 * returns how many: rows_cpu_ARCHITECTURE.c. */
int64_t rows_cpu_narrow_bf16(uint16_t *restrict dst, const float *restrict src, int64_t n);

/* The row itself when it is fp32 already, else `buffer` filled with it. */
static inline const float *rows_cpu_read(const void *row, DType dtype, int64_t n, float *buffer)
{
    if (dtype == DT_F32) return (const float *)row;
    rows_cpu_load(buffer, row, dtype, n);
    return buffer;
}

/* Where to compute a row that will be stored as dtype: in place when it is fp32. */
static inline float *rows_cpu_target(void *row, DType dtype, float *buffer)
{
    return dtype == DT_F32 ? (float *)row : buffer;
}

static inline void rows_cpu_finish(void *row, DType dtype, int64_t n, const float *computed)
{
    if (dtype != DT_F32) rows_cpu_store(row, computed, dtype, n);
}

static inline void *rows_cpu_at(const void *data, DType dtype, int64_t element)
{
    return (char *)(uintptr_t)data + element * (int64_t)plan_dtype_size(dtype);
}

/* Why a float kernel cannot take a tensor, or a node (op_has_f64()); NULL when it can. */
const char *rows_cpu_refuse_f64(const Tensor *t);
const char *rows_cpu_declines_f64(const Plan *plan, const Node *node);

/* A workspace of two float rows for each thread, as wide as the node's first input; row 0 or 1 of
 * `thread`. */
size_t rows_cpu_buffers(const Plan *plan, const Node *node, int threads);
float *rows_cpu_buffer(const OpCall *call, int thread, int i);
