/* The gradient: a thread takes a range of the vocabulary, clears its rows unless they accumulate, and
 * adds the rows of the tokens within it, in the order of the tokens: sums do not depend on the number
 * of threads. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"

#include <string.h>

enum { IN_POSITIONS = 2, OUT_DPOSITIONS = 1 };

CPU_CLONES static void add(float *restrict sum, const float *restrict x, const float *restrict y,
                           int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) sum[i] = x[i] + y[i];
}

/* A row of the table and a row of the positions. */
static void add_rows(Operand x, int64_t row, Operand table, int64_t word, Operand positions,
                     int64_t t)
{
    float sum[ROWS_CHUNK], a[ROWS_CHUNK], b[ROWS_CHUNK];
    for (int64_t j = 0; j < x.cols; j += ROWS_CHUNK) {
        const int64_t n = i64_min(ROWS_CHUNK, x.cols - j);
        float *target = operand_cpu_target(x, row, j, sum);
        add(target, operand_cpu_read(table, word, j, n, a), operand_cpu_read(positions, t, j, n, b),
            n);
        operand_cpu_finish(x, row, j, n, target);
    }
}

static void embed_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand x = element_out(call, 0), table = element_in(call, 0);
    const Operand positions = element_in(call, IN_POSITIONS);
    const int32_t *ids = op_in(call, 1);
    (void)thread;
    for (int64_t i = first; i < last; i++) {
        if (positions.data) {
            add_rows(x, i, table, ids[i], positions, i % call->node->attr.tokens);
            continue;
        }
        rows_cpu_convert(operand_cpu_at(x, i, 0), x.dtype, operand_cpu_at(table, ids[i], 0),
                         table.dtype, x.cols);
    }
}

enum { RANGE = 256 }; /* rows of the table that a thread takes at a time */

static void clear_rows(const OpCall *call, int64_t begin, int64_t end)
{
    const Operand dtable = element_out(call, 0);
    if (call->node->attr.accumulate) return;
    memset(operand_cpu_at(dtable, begin, 0), 0,
           (size_t)((end - begin) * dtable.cols) * plan_dtype_size(dtable.dtype));
}

static void sum_range(const void *data, int64_t begin, int64_t end, int thread)
{
    const OpCall *call = data;
    const Operand dx = element_in(call, 0);
    const int64_t n = dx.cols, step = dx.dtype == DT_F32 ? n : ROWS_CHUNK;
    const int32_t *ids = op_in(call, 1);
    float *dtable = op_out(call, 0), buffer[ROWS_CHUNK];
    (void)thread;
    clear_rows(call, begin, end);
    for (int64_t i = 0; i < dx.rows; i++) {
        if (ids[i] < begin || ids[i] >= end) continue;
        for (int64_t j = 0; j < n; j += step) {
            const int64_t m = i64_min(step, n - j);
            rows_cpu_add(dtable + ids[i] * n + j, operand_cpu_read(dx, i, j, m, buffer), m);
        }
    }
}

static bool is_first(const int32_t *ids, int64_t i)
{
    for (int64_t k = 0; k < i; k++) {
        if (ids[k] == ids[i]) return false;
    }
    return true;
}

/* The row of the word of token `i`, its first: summed in fp32 and rounded once. */
static void sum_word(const OpCall *call, int64_t i)
{
    const Operand dtable = element_out(call, 0), dx = element_in(call, 0);
    const int32_t *ids = op_in(call, 1);
    float sum[ROWS_CHUNK], buffer[ROWS_CHUNK];
    for (int64_t j = 0; j < dx.cols; j += ROWS_CHUNK) {
        const int64_t m = i64_min(ROWS_CHUNK, dx.cols - j);
        rows_cpu_load(sum, operand_cpu_at(dtable, ids[i], j), dtable.dtype, m);
        for (int64_t k = i; k < dx.rows; k++) {
            if (ids[k] == ids[i]) rows_cpu_add(sum, operand_cpu_read(dx, k, j, m, buffer), m);
        }
        operand_cpu_finish(dtable, ids[i], j, m, sum);
    }
}

/* As sum_range(), for a table of 16 bit. */
static void sum_range_16(const void *data, int64_t begin, int64_t end, int thread)
{
    const OpCall *call = data;
    const int32_t *ids = op_in(call, 1);
    (void)thread;
    clear_rows(call, begin, end);
    for (int64_t i = 0; i < plan_rows(op_in_shape(call, 0)); i++) {
        if (ids[i] >= begin && ids[i] < end && is_first(ids, i)) sum_word(call, i);
    }
}

static void sum_positions(const void *data, int64_t begin, int64_t end, int thread)
{
    const OpCall *call = data;
    const Operand dpositions = element_out(call, OUT_DPOSITIONS), dx = element_in(call, 0);
    const int64_t T = call->node->attr.tokens;
    float sum[ROWS_CHUNK], buffer[ROWS_CHUNK];
    (void)thread;
    for (int64_t t = begin; t < end; t++) {
        for (int64_t j = 0; j < dx.cols; j += ROWS_CHUNK) {
            const int64_t m = i64_min(ROWS_CHUNK, dx.cols - j);
            memset(sum, 0, (size_t)m * sizeof *sum);
            for (int64_t i = t; t < T && i < dx.rows; i += T) {
                rows_cpu_add(sum, operand_cpu_read(dx, i, j, m, buffer), m);
            }
            rows_cpu_store(operand_cpu_at(dpositions, t, j), sum, dpositions.dtype, m);
        }
    }
}

static Status run_grad(const OpCall *call)
{
    const Tensor *dtable = op_out_shape(call, 0), *dpositions = op_out_shape(call, OUT_DPOSITIONS);
    thread_team_for(call->threads, plan_rows(dtable), RANGE,
                    dtable->dtype == DT_F32 ? sum_range : sum_range_16, call);
    if (dpositions) thread_team_for(call->threads, plan_rows(dpositions), 0, sum_positions, call);
    return ST_OK;
}

const OpImpl embedding_cpu[] = {
    {.name = "embedding_cpu", .declines = rows_cpu_declines_f64, .rows = embed_rows}, {0}};
const OpImpl embedding_grad_cpu[] = {
    {.name = "embedding_grad_cpu", .declines = rows_cpu_declines_f64, .run = run_grad}, {0}};
