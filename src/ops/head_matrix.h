/* The matrices inside a tensor of attention: one for every sequence and head.
 *
 * [B, H, T, T] holds T x T scores; [B T, H D] holds T x D heads side by side (see ops/bmm.c). k and v
 * may have fewer heads than q, where attr.head_dim says how wide a head is: then `group` heads of q
 * share one of them, and matrix i of k is that of head i of q. */
#pragma once

#include "ops/element.h"

typedef struct HeadMatrix {
    void *data;
    DType dtype;
    int64_t count;      /* B H matrices */
    int64_t rows, cols; /* of each */
    int64_t ld;         /* elements from row to row */
    int64_t heads;      /* of q */
    int64_t group;      /* heads of q that share a matrix of this tensor */
    int64_t head_step, batch_step;
} HeadMatrix;

static inline HeadMatrix head_matrix(const Tensor *t, const void *data, const NodeAttr *attr)
{
    const int64_t T = attr->tokens, H = attr->heads;
    HeadMatrix m = {.data = (void *)(uintptr_t)data, .dtype = t->dtype, .rows = T, .heads = H};
    m.group = 1;
    if (t->n_dims == 4) {
        m.count = t->dim[0] * t->dim[1];
        m.cols = m.ld = T;
        m.head_step = T * T;
        m.batch_step = H * T * T;
    } else {
        m.count = plan_rows(t) / T * H;
        m.cols = attr->head_dim ? attr->head_dim : plan_width(t) / H;
        m.group = H * m.cols / plan_width(t);
        m.ld = t->ld;
        m.head_step = m.cols;
        m.batch_step = T * t->ld;
    }
    return m;
}

static inline HeadMatrix head_matrix_out(const OpCall *call, int i)
{
    return head_matrix(op_out_shape(call, i), op_out(call, i), &call->node->attr);
}

static inline HeadMatrix head_matrix_in(const OpCall *call, int i)
{
    return head_matrix(op_in_shape(call, i), op_in(call, i), &call->node->attr);
}

/* Element index of the first entry of matrix `i` (sequence i / H, head i % H of q). */
static inline int64_t head_matrix_start(const HeadMatrix *m, int64_t i)
{
    return i / m->heads * m->batch_step + i % m->heads / m->group * m->head_step;
}

/* Matrix `i` from row `first` on; without memory yet it has no data. */
static inline Operand head_matrix_operand(const HeadMatrix *m, int64_t i, int64_t first)
{
    const int64_t at = head_matrix_start(m, i) + first * m->ld;
    void *data = m->data ? (char *)m->data + at * (int64_t)plan_dtype_size(m->dtype) : NULL;
    return (Operand){data, m->dtype, m->rows - first, m->cols, m->ld};
}

static inline double head_matrix_get(const HeadMatrix *m, int64_t i, int64_t row, int64_t col)
{
    return element_get(m->data, m->dtype, head_matrix_start(m, i) + row * m->ld + col);
}

static inline void head_matrix_set(const HeadMatrix *m, int64_t i, int64_t row, int64_t col,
                                   double x)
{
    element_set(m->data, m->dtype, head_matrix_start(m, i) + row * m->ld + col, x);
}
