/* Rows are summed in chunks of fixed size, columns in groups of fixed height: results do not depend
 * on the number of threads, and errors grow slowly. A thread takes a band of columns, as wide as
 * leaves bands enough for all: the wider, the more neighbours of a row it reads at a time. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"
#include "plan/op_functions.h"

#include <math.h>
#include <string.h>

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

/* ---- columns ---- */

enum {
    LEAST_BAND = 64,
    MOST_BAND = ROWS_CHUNK,
    BANDS_PER_THREAD = 2,
    GROUP = 64,
    FEW = 4,   /* rows that are added with one access to the sums */
    AHEAD = 12 /* rows: each is another page, which no hardware prefetches */
};

/* Added one row after the other: the sums have the bits of single rows. */
CPU_CLONES static void add_few(float *restrict sum, const float *restrict x, int64_t ld, int64_t n)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        sum[j] = (((sum[j] + x[j]) + x[j + ld]) + x[j + 2 * ld]) + x[j + 3 * ld];
}

CPU_CLONES static void add_few_bf16(float *restrict sum, const uint16_t *restrict x, int64_t ld,
                                    int64_t n)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        sum[j] = (((sum[j] + float16_from_bf16(x[j])) + float16_from_bf16(x[j + ld])) +
                  float16_from_bf16(x[j + 2 * ld])) +
                 float16_from_bf16(x[j + 3 * ld]);
    }
}

static void prefetch_row(Operand x, int64_t row, int64_t col, int64_t n)
{
    enum { CACHE_LINE = 64 };
    const char *from = operand_cpu_at(x, row, col);
    const int64_t bytes = n * (int64_t)plan_dtype_size(x.dtype);
    for (int64_t i = 0; i < bytes; i += CACHE_LINE) __builtin_prefetch(from + i);
}

/* sum += columns [col, col + n) of rows [row, end). */
static void add_group(float *sum, Operand x, int64_t row, int64_t end, int64_t col, int64_t n)
{
    for (; row + FEW <= end; row += FEW) {
        for (int64_t r = row + AHEAD; r < i64_min(row + AHEAD + FEW, x.rows); r++)
            prefetch_row(x, r, col, n);
        const void *few = operand_cpu_at(x, row, col);
        if (x.dtype == DT_F32) {
            add_few(sum, few, x.ld, n);
        } else if (x.dtype == DT_BF16) {
            add_few_bf16(sum, few, x.ld, n);
        } else {
            for (int64_t r = row; r < row + FEW; r++)
                rows_cpu_add_row(sum, operand_cpu_at(x, r, col), x.dtype, n);
        }
    }
    for (; row < end; row++) rows_cpu_add_row(sum, operand_cpu_at(x, row, col), x.dtype, n);
}

/* Columns [col, col + n) over all rows. */
static void reduce_band(Operand y, Operand x, int64_t col, int64_t n)
{
    float total[MOST_BAND], sum[MOST_BAND];
    const size_t bytes = (size_t)n * sizeof *sum;
    memset(total, 0, bytes);
    for (int64_t i = 0; i < x.rows; i += GROUP) {
        memset(sum, 0, bytes);
        add_group(sum, x, i, i64_min(i + GROUP, x.rows), col, n);
        rows_cpu_add(total, sum, n);
    }
    rows_cpu_store(rows_cpu_at(y.data, y.dtype, col), total, y.dtype, n);
}

static int64_t band_width(int64_t columns, int threads)
{
    const int64_t each = i64_ceil_div(columns, (int64_t)BANDS_PER_THREAD * threads);
    return i64_min(i64_round_up(each, LEAST_BAND), MOST_BAND);
}

static void reduce_bands(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const int64_t width = band_width(x.cols, call->threads);
    (void)thread;
    for (int64_t j = first * width; j < i64_min(last * width, x.cols); j += width)
        reduce_band(y, x, j, i64_min(width, x.cols - j));
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
    if (call->node->attr.fn == FN_COL_SUM) {
        const int64_t bands = i64_ceil_div(x.cols, band_width(x.cols, call->threads));
        thread_team_for(call->threads, bands, 1, reduce_bands, call);
    } else {
        thread_team_for(call->threads, x.rows, 8, reduce_rows, call);
    }
    return ST_OK;
}

const OpImpl reduce_cpu[] = {{.name = "reduce_cpu", .declines = rows_cpu_declines_f64, .run = run},
                             {0}};
