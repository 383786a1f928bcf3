/* Linear layers and their gradients through cuBLASLt. */
#include "ops/cuda/gemm_cuda.h"
#include "ops/cuda/impls_cuda.h"
#include "ops/matmul.h"

static GemmMatrix matrix_of(const Tensor *t, const void *data)
{
    return (GemmMatrix){.dtype = t->dtype, .ld = t->ld, .align = gemm_cuda_align(data, 0, 0)};
}

static Status prepare(const OpCall *call)
{
    const Tensor *c = op_out_shape(call, 0), *a = op_in_shape(call, 0), *b = op_in_shape(call, 1);
    const GemmShape shape = {.m = plan_rows(c),
                             .n = plan_width(c),
                             .k = call->node->attr.transpose_a ? plan_rows(a) : plan_width(a),
                             .batch = 1,
                             .a = matrix_of(a, op_in(call, 0)),
                             .b = matrix_of(b, op_in(call, 1)),
                             .c = matrix_of(c, op_out(call, 0)),
                             .bias = op_in(call, MATMUL_IN_BIAS),
                             .bias_align = gemm_cuda_align(op_in(call, MATMUL_IN_BIAS), 0, 0)};
    return gemm_cuda_prepare(call, shape, op_in(call, 0), op_in(call, 1), op_out(call, 0));
}

static Status run(const OpCall *call)
{
    return gemm_cuda_run(*call->state, call->backend, 1, op_in(call, 0), op_in(call, 1),
                         op_out(call, 0), call->workspace);
}

const OpImpl matmul_cuda[] = {{"cublaslt", gpu_support_declines_matmul,
                               gpu_support_workspace_cublaslt, run, prepare, gemm_cuda_free},
                              {0}};
