#include "ops/attention_cuda/gemm_fp32_cuda.h"
#include "ops/cuda/gemm_cuda.h"
#include "ops/cuda/impls_cuda.h"
#include "ops/head_matrix.h"

#include <stdlib.h>

/* ---- cuBLASLt: the heads of one sequence as one strided batch. A stack of sequences takes one call each, since heads
 * side by side and sequences one below the other have no common distance. ---- */

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
    return gemm_cuda_align(m->data, m->head_step * size, m->batch_step * size);
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
    if (!p) return NO_MEMORY("for a product");
    *call->state = p;
    return gemm_cuda_prepare(p, call->backend, &shape, a.data, b.data, c.data, call->workspace);
}

static Status run(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix c = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr);
    const HeadMatrix a = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr);
    const HeadMatrix b = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr);
    for (int64_t i = 0; i < c.count / batch_of(&c); i++) {
        TRY(gemm_cuda_run(*call->state, call->backend, (float)attr->scale, sequence(&a, i),
                          sequence(&b, i), (void *)(uintptr_t)sequence(&c, i), call->workspace));
    }
    return ST_OK;
}

static void forget(void *state)
{
    gemm_cuda_free(state);
    free(state);
}

/* ---- our own in fp32, all sequences at once ---- */

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
    return gemm_fp32_cuda_prepare(call->backend, &p);
}

static Status run_fp32(const OpCall *call)
{
    const ProductFp32 p = product_of(call);
    return gemm_fp32_cuda_run(call->backend, &p);
}

const OpImpl bmm_cuda[] = {
    {.name = "product_fp32",
     .declines = gpu_plan_declines_bmm_fp32,
     .run = run_fp32,
     .prepare = prepare_fp32},
    {"cublaslt", gpu_plan_declines_f64, gpu_plan_scratch_cublaslt, run, prepare, forget},
    {0}};
