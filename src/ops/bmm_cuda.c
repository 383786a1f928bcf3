#include "ops/head_matrix.h"
#include "ops/impls_cuda.h"
#include "ops/product_cuda.h"
#include "ops/product_fp32_cuda.h"

#include <stdlib.h>

/* ---- cuBLASLt: the heads of one sequence as one strided batch. A stack of sequences takes one call each, since heads
 * side by side and sequences one below the other have no common distance. ---- */

static size_t workspace(const Plan *plan, const Node *node, int threads)
{
    (void)plan;
    (void)node;
    (void)threads;
    return PRODUCT_CUDA_WORKSPACE;
}

/* A single head leaves the sequences as the only stack. */
static int64_t batch_of(const HeadMatrix *m)
{
    return m->heads == 1 ? m->count : m->heads;
}

static int64_t step_of(const HeadMatrix *m)
{
    return m->heads == 1 ? m->batch_step : m->head_step;
}

static const void *sequence(const HeadMatrix *m, int64_t i)
{
    return (const char *)m->data + i * m->batch_step * (int64_t)plan_dtype_size(m->dtype);
}

static uint32_t align_of(const HeadMatrix *m)
{
    const int64_t size = (int64_t)plan_dtype_size(m->dtype);
    return product_cuda_align(m->data, m->head_step * size, m->batch_step * size);
}

static Status prepare(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix c = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr);
    const HeadMatrix a = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr);
    const HeadMatrix b = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr);
    const ProductShape shape = {.m = c.rows,
                                .n = c.cols,
                                .k = attr->transpose_a ? a.rows : a.cols,
                                .lda = a.ld,
                                .ldb = b.ld,
                                .ldc = c.ld,
                                .batch = batch_of(&c),
                                .a_step = step_of(&a),
                                .b_step = step_of(&b),
                                .c_step = step_of(&c),
                                .a = a.dtype,
                                .b = b.dtype,
                                .c = c.dtype,
                                .a_align = align_of(&a),
                                .b_align = align_of(&b),
                                .c_align = align_of(&c),
                                .transpose_a = attr->transpose_a,
                                .transpose_b = attr->transpose_b,
                                .tf32 = attr->tf32};
    Product *p = calloc(1, sizeof *p);
    if (!p) return FAIL(ST_NO_MEMORY, "no memory for a product");
    *call->state = p;
    return product_cuda_prepare(p, call->backend, &shape, a.data, b.data, c.data, call->workspace);
}

static Status run(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix c = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr);
    const HeadMatrix a = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr);
    const HeadMatrix b = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr);
    for (int64_t i = 0; i < c.count / batch_of(&c); i++) {
        TRY(product_cuda_run(*call->state, call->backend, (float)attr->scale, sequence(&a, i),
                             sequence(&b, i), (void *)(uintptr_t)sequence(&c, i), call->workspace));
    }
    return ST_OK;
}

static void forget(void *state)
{
    product_cuda_free(state);
    free(state);
}

/* ---- our own in fp32, all sequences at once ---- */

static bool whole_pieces(const Tensor *t, const NodeAttr *attr)
{
    enum { PIECE = 4 };
    const HeadMatrix m = head_matrix(t, NULL, attr);
    return t->offset % PIECE == 0 && m.rows % PIECE == 0 && m.cols % PIECE == 0 &&
           m.ld % PIECE == 0;
}

/* On an H200, 8 matrices of 1,024 tokens, of cuBLASLt's time: heads of 16 0.5 (scores 0.9), of 32 0.75 (scores 1.0), of 64 0.9
 * (scores 1.1); over 4,096 tokens of 64 1.05. 4 x 16 heads of 64 over 512 tokens, which cuBLASLt takes in four calls: 0.5
 * (scores 1.0); of 128: 1.15 and more. */
static bool pays_in_fp32(const Plan *plan, const Node *node)
{
    enum { NARROW = 32, MOST = 64, LONG = 2048 };
    const HeadMatrix a = head_matrix(plan_in(plan, node, 0), NULL, &node->attr);
    const HeadMatrix c = head_matrix(plan_out(plan, node, 0), NULL, &node->attr);
    const int64_t width = a.cols < c.cols ? a.cols : c.cols; /* of a head */
    if (width <= NARROW || width > MOST) return width <= NARROW;
    if (c.heads > 1 && c.count > c.heads) return true;
    return !node->attr.transpose_b && c.rows <= LONG;
}

static const char *declines_fp32(const Plan *plan, const Node *node)
{
    const NodeAttr *attr = &node->attr;
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const Tensor *t = &plan->tensors[plan->operands[node->first + i]];
        if (t->dtype != DT_F32 || attr->tf32) return "it multiplies fp32 alone";
        if (!whole_pieces(t, attr)) return "rows are no whole number of 16 bytes";
    }
    if (attr->transpose_a && attr->transpose_b) return "both operands are transposed";
    if (!pays_in_fp32(plan, node)) return "cuBLASLt is faster for heads of this width";
    const int chip = backend_api(BACKEND_cuda)->capability(0);
    return chip > 0 && chip < 80 ? "it needs a GPU of compute capability 8.0 or more" : NULL;
}

static Fp32Stack stack_of(const HeadMatrix *m)
{
    return (Fp32Stack){
        .data = m->data, .ld = m->ld, .head_step = m->head_step, .batch_step = m->batch_step};
}

static ProductFp32 product_of(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix c = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr);
    const HeadMatrix a = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr);
    const HeadMatrix b = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr);
    return (ProductFp32){.a = stack_of(&a),
                         .b = stack_of(&b),
                         .c = stack_of(&c),
                         .m = (int)c.rows,
                         .n = (int)c.cols,
                         .k = (int)(attr->transpose_a ? a.rows : a.cols),
                         .heads = (int)c.heads,
                         .count = (int)c.count,
                         .transpose_a = attr->transpose_a,
                         .transpose_b = attr->transpose_b,
                         .scale = (float)attr->scale};
}

static Status prepare_fp32(const OpCall *call)
{
    const ProductFp32 p = product_of(call);
    return product_fp32_cuda_prepare(call->backend, &p);
}

static Status run_fp32(const OpCall *call)
{
    const ProductFp32 p = product_of(call);
    return product_fp32_cuda_run(call->backend, &p);
}

const OpImpl bmm_cuda[] = {
    {.name = "product_fp32", .declines = declines_fp32, .run = run_fp32, .prepare = prepare_fp32},
    {"cublaslt", impls_cuda_declines_f64, workspace, run, prepare, forget},
    {0}};
