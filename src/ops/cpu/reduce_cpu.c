/* Rows are summed in chunks of fixed size, columns in bands of fixed width and groups of fixed
 * height: results do not depend on the number of threads, and errors grow slowly. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"
#include "plan/op_functions.h"

#include <math.h>

CPU_CLONES static float sum_of(const float *x, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

static double reduce_row(int fn, Operand x, int64_t row)
{
    float buffer[ROWS_CHUNK], max = -INFINITY;
    double sum = 0;
    for (int64_t j = 0; j < x.cols; j += ROWS_CHUNK) {
        const int64_t n = i64_min(ROWS_CHUNK, x.cols - j);
        const float *chunk = operand_cpu_read(x, row, j, n, buffer);
        if (fn == FN_ROW_MAX) {
            max = rows_cpu_max(chunk, n, max);
        } else {
            sum += (double)sum_of(chunk, n);
        }
    }
    if (fn == FN_ROW_MAX) return (double)max;
    return fn == FN_ROW_MEAN ? sum / (double)x.cols : sum;
}

enum { BAND = 64, GROUP = 64 };

/* Columns [col, col + n) over all rows. */
static void reduce_band(Operand y, Operand x, int64_t col, int64_t n)
{
    float total[BAND] = {0}, buffer[BAND];
    for (int64_t i = 0; i < x.rows; i += GROUP) {
        const int64_t end = i64_min(i + GROUP, x.rows);
        float sum[BAND] = {0};
        for (int64_t r = i; r < end; r++)
            rows_cpu_add(sum, operand_cpu_read(x, r, col, n, buffer), n);
        rows_cpu_add(total, sum, n);
    }
    rows_cpu_store(rows_cpu_at(y.data, y.dtype, col), total, y.dtype, n);
}

static void reduce_bands(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    (void)thread;
    for (int64_t j = first * BAND; j < i64_min(last * BAND, x.cols); j += BAND)
        reduce_band(y, x, j, i64_min(BAND, x.cols - j));
}

static void reduce_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const int fn = call->node->attr.fn;
    (void)thread;
    for (int64_t i = first; i < last; i++) element_set(y.data, y.dtype, i, reduce_row(fn, x, i));
}

static Status run(const OpCall *call)
{
    const Operand x = element_in(call, 0);
    const bool columns = call->node->attr.fn == FN_COL_SUM;
    thread_team_for(call->threads, columns ? i64_ceil_div(x.cols, BAND) : x.rows, 8,
                    columns ? reduce_bands : reduce_rows, call);
    return ST_OK;
}

const OpImpl reduce_cpu[] = {{.name = "reduce_cpu", .declines = rows_cpu_declines_f64, .run = run},
                             {0}};
