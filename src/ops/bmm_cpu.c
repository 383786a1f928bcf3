/* One thread for each head's product; 16-bit heads are widened into the thread's workspace. */
#include "ops/blas_cpu.h"
#include "ops/head_rows_cpu.h"
#include "ops/impls_cpu.h"

static int64_t wide_elements(const Tensor *t, const NodeAttr *attr)
{
    const HeadMatrix m = head_matrix(t, NULL, attr);
    return t->dtype == DT_F32 ? 0 : m.rows * m.cols;
}

static int64_t per_thread(const Plan *plan, const Node *node)
{
    return wide_elements(plan_out(plan, node, 0), &node->attr) +
           wide_elements(plan_in(plan, node, 0), &node->attr) +
           wide_elements(plan_in(plan, node, 1), &node->attr) + 64;
}

static size_t workspace(const Plan *plan, const Node *node, int threads)
{
    return (size_t)threads * (size_t)per_thread(plan, node) * sizeof(float);
}

static void multiply(const HeadMatrix *c, const HeadMatrix *a, const HeadMatrix *b,
                     const NodeAttr *attr, int64_t i, float *buffer)
{
    const int64_t n_a = a->dtype == DT_F32 ? 0 : a->rows * a->cols;
    const int64_t n_b = b->dtype == DT_F32 ? 0 : b->rows * b->cols;
    const HeadRows x = head_rows_cpu_read(a, i, 0, a->rows, buffer);
    const HeadRows y = head_rows_cpu_read(b, i, 0, b->rows, buffer + n_a);
    const HeadRows to = head_rows_cpu_target(c, i, 0, buffer + n_a + n_b);
    blas_cpu_sgemm(attr->transpose_a, attr->transpose_b, c->rows, c->cols,
                   attr->transpose_a ? a->rows : a->cols, (float)attr->scale, x.data, x.ld, y.data,
                   y.ld, 0, to.data, to.ld);
    head_rows_cpu_finish(c, i, 0, c->rows, &to);
}

static Status run(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix c = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr);
    const HeadMatrix a = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr);
    const HeadMatrix b = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr);
    const int64_t size = per_thread(call->plan, call->node);
    blas_cpu_set_threads(call->threads);
#pragma omp parallel for schedule(dynamic) num_threads(call->threads)
    for (int64_t i = 0; i < c.count; i++) {
        multiply(&c, &a, &b, attr, i, (float *)call->workspace + omp_thread() * size);
    }
    return ST_OK;
}

const OpImpl bmm_cpu[] = {{"blas", rows_cpu_declines_f64, workspace, run}, {0}};
