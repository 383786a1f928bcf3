/* One head's matrix as floats: in place when it is fp32, widened into a buffer otherwise. */
#ifndef OPS_HEAD_ROWS_CPU_H
#define OPS_HEAD_ROWS_CPU_H

#include "ops/head_matrix.h"
#include "ops/rows_cpu.h"

typedef struct HeadRows {
    float *data;
    int64_t ld;
} HeadRows;

static inline HeadRows head_rows_cpu_target(const HeadMatrix *m, int64_t i, float *buffer)
{
    if (m->dtype != DT_F32) return (HeadRows){buffer, m->cols};
    return (HeadRows){(float *)m->data + head_matrix_start(m, i), m->ld};
}

static inline HeadRows head_rows_cpu_read(const HeadMatrix *m, int64_t i, float *buffer)
{
    const HeadRows to = head_rows_cpu_target(m, i, buffer);
    for (int64_t r = 0; m->dtype != DT_F32 && r < m->rows; r++) {
        const int64_t from = head_matrix_start(m, i) + r * m->ld;
        rows_cpu_load(buffer + r * m->cols, rows_cpu_at(m->data, m->dtype, from), m->dtype, m->cols);
    }
    return to;
}

/* Rounds what was computed in `rows` into the matrix; nothing to do when it is the matrix itself. */
static inline void head_rows_cpu_finish(const HeadMatrix *m, int64_t i, const HeadRows *rows)
{
    for (int64_t r = 0; m->dtype != DT_F32 && r < m->rows; r++) {
        const int64_t to = head_matrix_start(m, i) + r * m->ld;
        rows_cpu_store(rows_cpu_at(m->data, m->dtype, to), rows->data + r * rows->ld, m->dtype,
                       m->cols);
    }
}

#endif
