#include "ops/cuda/gemm_cuda.h"
#include "ops/cuda/impls_cuda.h"
#include "ops/head_matrix.h"

static HeadMatrix out_matrix(const OpCall *call)
{
    return head_matrix(op_out_shape(call, 0), op_out(call, 0), &call->node->attr);
}

static HeadMatrix in_matrix(const OpCall *call, int i)
{
    return head_matrix(op_in_shape(call, i), op_in(call, i), &call->node->attr);
}

/* ---- cuBLASLt: the heads of one sequence as one strided batch. A stack of sequences takes one
 * call each, since heads side by side and sequences one below the other have no common distance.
 * ---- */

/* A single head leaves the sequences as the only stack. */
static int64_t batch_of(const HeadMatrix *m)
{
    return m->heads == 1 ? m->count : m->heads;
}

static const void *sequence(const HeadMatrix *m, int64_t i)
{
    return (const char *)m->data + i * m->batch_step * (int64_t)plan_dtype_size(m->dtype);
}

static GemmMatrix matrix_of(const HeadMatrix *m)
{
    const int64_t size = (int64_t)plan_dtype_size(m->dtype);
    return (GemmMatrix){.dtype = m->dtype,
                        .ld = m->ld,
                        .step = m->heads == 1 ? m->batch_step : m->head_step,
                        .align =
                            gemm_cuda_align(m->data, m->head_step * size, m->batch_step * size)};
}

static Status prepare(const OpCall *call)
{
    const HeadMatrix c = out_matrix(call), a = in_matrix(call, 0), b = in_matrix(call, 1);
    const GemmShape shape = {.m = c.rows,
                             .n = c.cols,
                             .k = call->node->attr.transpose_a ? a.rows : a.cols,
                             .batch = batch_of(&c),
                             .a = matrix_of(&a),
                             .b = matrix_of(&b),
                             .c = matrix_of(&c)};
    return gemm_cuda_prepare(call, shape, a.data, b.data, c.data);
}

static Status run(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix c = out_matrix(call), a = in_matrix(call, 0), b = in_matrix(call, 1);
    for (int64_t i = 0; i < c.count / batch_of(&c); i++) {
        TRY(gemm_cuda_run(*call->state, call->backend, (float)attr->scale, sequence(&a, i),
                          sequence(&b, i), (void *)(uintptr_t)sequence(&c, i), call->workspace));
    }
    return ST_OK;
}

/* ---- our own in fp32, all sequences at once ---- */

static Fp32Stack stack_of(const HeadMatrix *m)
{
    return (Fp32Stack){
        .data = m->data, .ld = m->ld, .head_step = m->head_step, .batch_step = m->batch_step};
}

static GemmFp32 gemm_of(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix c = out_matrix(call), a = in_matrix(call, 0), b = in_matrix(call, 1);
    return (GemmFp32){.a = stack_of(&a),
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
    const GemmFp32 p = gemm_of(call);
    return gemm_fp32_cuda(call->backend, &p, true);
}

static Status run_fp32(const OpCall *call)
{
    const GemmFp32 p = gemm_of(call);
    return gemm_fp32_cuda(call->backend, &p, false);
}

const OpImpl bmm_cuda[] = {{.name = "product_fp32",
                            .declines = gpu_support_declines_bmm_fp32,
                            .run = run_fp32,
                            .prepare = prepare_fp32},
                           {"cublaslt", gpu_support_declines_f64, gpu_support_workspace_cublaslt,
                            run, prepare, gemm_cuda_free},
                           {0}};
