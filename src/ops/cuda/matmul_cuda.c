/* Linear layers and their gradients through cuBLASLt. */
#include "ops/cuda/gemm_cuda.h"
#include "ops/cuda/impls_cuda.h"

#include <stdlib.h>

static Status prepare(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const Tensor *c = op_out_shape(call, 0), *a = op_in_shape(call, 0), *b = op_in_shape(call, 1);
    const ProductShape shape = {.m = plan_rows(c),
                                .n = plan_width(c),
                                .k = attr->transpose_a ? plan_rows(a) : plan_width(a),
                                .lda = a->ld,
                                .ldb = b->ld,
                                .ldc = c->ld,
                                .batch = 1,
                                .a = a->dtype,
                                .b = b->dtype,
                                .c = c->dtype,
                                .a_align = gemm_cuda_align(op_in(call, 0), 0, 0),
                                .b_align = gemm_cuda_align(op_in(call, 1), 0, 0),
                                .c_align = gemm_cuda_align(op_out(call, 0), 0, 0),
                                .transpose_a = attr->transpose_a,
                                .transpose_b = attr->transpose_b,
                                .tf32 = attr->tf32};
    Product *p = calloc(1, sizeof *p);
    if (!p) return NO_MEMORY("for a product");
    *call->state = p;
    return gemm_cuda_prepare(p, call->backend, &shape, op_in(call, 0), op_in(call, 1),
                             op_out(call, 0), call->workspace);
}

static Status run(const OpCall *call)
{
    return gemm_cuda_run(*call->state, call->backend, 1, op_in(call, 0), op_in(call, 1),
                         op_out(call, 0), call->workspace);
}

static void forget(void *state)
{
    gemm_cuda_free(state);
    free(state);
}

const OpImpl matmul_cuda[] = {
    {"cublaslt", gpu_plan_declines_f64, gpu_plan_scratch_cublaslt, run, prepare, forget}, {0}};
