/* The gradient: every thread owns ranges of the vocabulary, clears them, and adds the rows of the
 * tokens that fall into them, in the order of the tokens whatever the number of threads. */
#include "ops/cpu/impls_cpu.h"
#include "ops/simd_cpu/rows_cpu.h"

#include <string.h>

static Status run(const OpCall *call)
{
    const Tensor *x = op_out_shape(call, 0), *table = op_in_shape(call, 0);
    const int64_t rows = plan_rows(x), n = plan_width(x);
    const DType from = table->dtype, to = x->dtype;
    const int32_t *ids = op_in(call, 1);
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < rows; i++) {
        const void *src = rows_cpu_at(op_in(call, 0), from, ids[i] * n);
        void *dst = rows_cpu_at(op_out(call, 0), to, i * n);
        if (from == to) {
            memcpy(dst, src, (size_t)n * plan_dtype_size(to));
        } else if (to == DT_F32) {
            rows_cpu_load(dst, src, from, n);
        } else {
            rows_cpu_store(dst, src, to, n);
        }
    }
    return ST_OK;
}

/* 16-bit tables to another 16-bit dtype would need a buffer, and nothing asks for that. */
static const char *declines(const Plan *plan, const Node *node)
{
    const DType from = plan_in(plan, node, 0)->dtype, to = plan_out(plan, node, 0)->dtype;
    if (from != to && from != DT_F32 && to != DT_F32) return "neither table nor result is f32";
    return rows_cpu_declines_f64(plan, node);
}

CPU_CLONES static void add_row(float *restrict sum, const float *restrict row, int64_t n)
{
    for (int64_t j = 0; j < n; j++) sum[j] += row[j];
}

static void add_row_16bit(float *restrict sum, const void *row, DType dtype, int64_t n)
{
    float buffer[ROWS_CHUNK];
    for (int64_t j = 0; j < n; j += ROWS_CHUNK) {
        const int64_t m = n - j < ROWS_CHUNK ? n - j : ROWS_CHUNK;
        rows_cpu_load(buffer, rows_cpu_at(row, dtype, j), dtype, m);
        add_row(sum + j, buffer, m);
    }
}

enum { RANGE = 256 }; /* words per piece of work */

static void sum_range(const OpCall *call, int64_t begin, int64_t end)
{
    const Tensor *dx = op_in_shape(call, 0);
    const int64_t rows = plan_rows(dx), n = plan_width(dx);
    const int32_t *ids = op_in(call, 1);
    float *dtable = op_out(call, 0);
    memset(dtable + begin * n, 0, (size_t)((end - begin) * n) * sizeof *dtable);
    for (int64_t i = 0; i < rows; i++) {
        if (ids[i] < begin || ids[i] >= end) continue;
        const void *row = rows_cpu_at(op_in(call, 0), dx->dtype, i * n);
        if (dx->dtype == DT_F32) {
            add_row(dtable + ids[i] * n, row, n);
        } else {
            add_row_16bit(dtable + ids[i] * n, row, dx->dtype, n);
        }
    }
}

static Status run_grad(const OpCall *call)
{
    const int64_t V = plan_rows(op_out_shape(call, 0)), ranges = (V + RANGE - 1) / RANGE;
#pragma omp parallel for schedule(dynamic) num_threads(call->threads)
    for (int64_t i = 0; i < ranges; i++) {
        const int64_t end = (i + 1) * RANGE;
        sum_range(call, i * RANGE, end < V ? end : V);
    }
    return ST_OK;
}

static const char *declines_grad(const Plan *plan, const Node *node)
{
    if (plan_out(plan, node, 0)->dtype != DT_F32) return "sums are f32";
    return rows_cpu_declines_f64(plan, node);
}

const OpImpl embedding_cpu[] = {{.name = "embedding_cpu", .declines = declines, .run = run}, {0}};
const OpImpl embedding_grad_cpu[] = {
    {.name = "embedding_grad_cpu", .declines = declines_grad, .run = run_grad}, {0}};
