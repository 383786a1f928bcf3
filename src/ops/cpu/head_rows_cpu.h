/* One head's matrix on a CPU: as what a product packs, and as floats: in place when it is fp32, widened into a buffer
 * otherwise. */
#ifndef OPS_CPU_HEAD_ROWS_CPU_H
#define OPS_CPU_HEAD_ROWS_CPU_H

#include "ops/gemm_cpu/pack_cpu.h"
#include "ops/head_matrix.h"
#include "ops/simd_cpu/rows_cpu.h"

/* Matrix `i` from row `first` on; its lines are rows, or columns. */
static inline PackSource head_rows_cpu_lines(const HeadMatrix *m, int64_t i, int64_t first)
{
    const int64_t at = head_matrix_start(m, i) + first * m->ld;
    return (PackSource){rows_cpu_at(m->data, m->dtype, at), m->dtype, m->ld, 1};
}

static inline PackSource head_rows_cpu_columns(const HeadMatrix *m, int64_t i, int64_t first)
{
    const PackSource rows = head_rows_cpu_lines(m, i, first);
    return (PackSource){rows.data, rows.dtype, 1, rows.line_step};
}

typedef struct HeadRows {
    float *data;
    int64_t ld;
} HeadRows;

/* Rows [first, first + rows) of matrix `i`: where they are computed. */
static inline HeadRows head_rows_cpu_target(const HeadMatrix *m, int64_t i, int64_t first,
                                            float *buffer)
{
    if (m->dtype != DT_F32) return (HeadRows){buffer, m->cols};
    return (HeadRows){(float *)m->data + head_matrix_start(m, i) + first * m->ld, m->ld};
}

static inline HeadRows head_rows_cpu_read(const HeadMatrix *m, int64_t i, int64_t first,
                                          int64_t rows, float *buffer)
{
    for (int64_t r = 0; m->dtype != DT_F32 && r < rows; r++) {
        const int64_t from = head_matrix_start(m, i) + (first + r) * m->ld;
        rows_cpu_load(buffer + r * m->cols, rows_cpu_at(m->data, m->dtype, from), m->dtype,
                      m->cols);
    }
    return head_rows_cpu_target(m, i, first, buffer);
}

/* Rounds what was computed into the matrix; nothing to do when it was computed there. */
static inline void head_rows_cpu_finish(const HeadMatrix *m, int64_t i, int64_t first, int64_t rows,
                                        const HeadRows *computed)
{
    for (int64_t r = 0; m->dtype != DT_F32 && r < rows; r++) {
        const int64_t to = head_matrix_start(m, i) + (first + r) * m->ld;
        rows_cpu_store(rows_cpu_at(m->data, m->dtype, to), computed->data + r * computed->ld,
                       m->dtype, m->cols);
    }
}

#endif
