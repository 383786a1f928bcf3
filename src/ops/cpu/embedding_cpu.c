/* The gradient: a thread takes a range of the vocabulary, clears its rows, and adds the rows of the
 * tokens within it, in the order of the tokens: sums do not depend on the number of threads. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"

#include <string.h>

static void copy_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand x = element_out(call, 0), table = element_in(call, 0);
    const int32_t *ids = op_in(call, 1);
    (void)thread;
    for (int64_t i = first; i < last; i++) {
        rows_cpu_convert(operand_cpu_at(x, i, 0), x.dtype, operand_cpu_at(table, ids[i], 0),
                         table.dtype, x.cols);
    }
}

enum { RANGE = 256 }; /* rows of the table that a thread takes at a time */

static void sum_range(const void *data, int64_t begin, int64_t end, int thread)
{
    const OpCall *call = data;
    const Operand dx = element_in(call, 0);
    const int64_t n = dx.cols, step = dx.dtype == DT_F32 ? n : ROWS_CHUNK;
    const int32_t *ids = op_in(call, 1);
    float *dtable = op_out(call, 0), buffer[ROWS_CHUNK];
    (void)thread;
    memset(dtable + begin * n, 0, (size_t)((end - begin) * n) * sizeof *dtable);
    for (int64_t i = 0; i < dx.rows; i++) {
        if (ids[i] < begin || ids[i] >= end) continue;
        for (int64_t j = 0; j < n; j += step) {
            const int64_t m = i64_min(step, n - j);
            rows_cpu_add(dtable + ids[i] * n + j, operand_cpu_read(dx, i, j, m, buffer), m);
        }
    }
}

static Status run_grad(const OpCall *call)
{
    thread_team_for(call->threads, plan_rows(op_out_shape(call, 0)), RANGE, sum_range, call);
    return ST_OK;
}

static const char *declines_grad(const Plan *plan, const Node *node)
{
    if (plan_out(plan, node, 0)->dtype != DT_F32) return "sums are f32";
    return rows_cpu_declines_f64(plan, node);
}

const OpImpl embedding_cpu[] = {
    {.name = "embedding_cpu", .declines = rows_cpu_declines_f64, .rows = copy_rows}, {0}};
const OpImpl embedding_grad_cpu[] = {
    {.name = "embedding_grad_cpu", .declines = declines_grad, .run = run_grad}, {0}};
