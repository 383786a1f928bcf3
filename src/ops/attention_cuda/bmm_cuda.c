#include "ops/attention_cuda/bmm_batches.h"
#include "ops/cuda/gemm_cuda.h"
#include "ops/cuda/impls_cuda.h"

static HeadMatrix out_matrix(const OpCall *call)
{
    return head_matrix(op_out_shape(call, 0), op_out(call, 0), &call->node->attr);
}

static HeadMatrix in_matrix(const OpCall *call, int i)
{
    return head_matrix(op_in_shape(call, i), op_in(call, i), &call->node->attr);
}

/* ---- cuBLASLt ---- */

typedef struct Product {
    HeadMatrix c, a, b;
    BmmBatches batches;
    bool rounds; /* c is a sum in fp32, in the workspace, that is rounded at the end */
} Product;

/* The sums of a 16-bit result: its heads without gaps. */
static HeadMatrix sums_of(const HeadMatrix *c, void *workspace)
{
    HeadMatrix sums = *c;
    sums.data = (char *)workspace + GPU_SUPPORT_CUBLASLT;
    sums.dtype = DT_F32;
    sums.ld = c->heads / c->group * c->cols;
    sums.batch_step = c->rows * sums.ld;
    return sums;
}

static Product product_of(const OpCall *call)
{
    Product p = {.c = out_matrix(call), .a = in_matrix(call, 0), .b = in_matrix(call, 1)};
    p.batches = bmm_batches(&p.c, &p.a, &p.b);
    p.rounds = gpu_support_bmm_sum_bytes(call->plan, call->node) > 0;
    if (p.rounds) p.c = sums_of(&p.c, call->workspace);
    return p;
}

static void *batch_data(const BmmBatches *batches, const HeadMatrix *m, int64_t i)
{
    const int64_t start = bmm_batches_start(batches, m, i);
    return (char *)m->data + start * (int64_t)plan_dtype_size(m->dtype);
}

static GemmMatrix matrix_of(const BmmBatches *batches, const HeadMatrix *m)
{
    const int64_t size = (int64_t)plan_dtype_size(m->dtype);
    return (GemmMatrix){.dtype = m->dtype,
                        .ld = m->ld,
                        .step = bmm_batches_step(batches, m),
                        .align =
                            gemm_cuda_align(m->data, m->head_step * size, m->batch_step * size)};
}

static Status prepare(const OpCall *call)
{
    const Product p = product_of(call);
    const NodeAttr *attr = &call->node->attr;
    const GemmShape shape = {.m = p.c.rows,
                             .n = p.c.cols,
                             .k = attr->transpose_a ? p.a.rows : p.a.cols,
                             .batch = p.batches.size,
                             .a = matrix_of(&p.batches, &p.a),
                             .b = matrix_of(&p.batches, &p.b),
                             .c = matrix_of(&p.batches, &p.c),
                             .transpose_a = attr->transpose_a,
                             .transpose_b = attr->transpose_b,
                             .tf32 = attr->tf32,
                             .accumulate = attr->accumulate};
    Gemm *gemm = NULL;
    const Status status = gemm_cuda_open(call, &shape, p.a.data, p.b.data, p.c.data, &gemm);
    *call->state = gemm;
    return status;
}

static Status run(const OpCall *call)
{
    const Product p = product_of(call);
    const float scale = (float)call->node->attr.scale;
    Gemm gemm = *(const Gemm *)*call->state;
    for (int64_t i = 0; i < p.batches.count; i++) {
        gemm.shape.accumulate = bmm_batches_adds(&p.batches, i);
        TRY(gemm_cuda_run(&gemm, call->backend, scale, batch_data(&p.batches, &p.a, i),
                          batch_data(&p.batches, &p.b, i), batch_data(&p.batches, &p.c, i),
                          call->workspace));
    }
    return p.rounds ? bmm_sum_cuda_round(call, p.c.data) : ST_OK;
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
                      .scale = (float)attr->scale,
                      .b_shared = b.group > 1,
                      .c_shared = c.group > 1,
                      .group = (int)(b.group > 1 ? b.group : c.group)};
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

const OpImpl bmm_cuda[] = {
    {.name = "product_fp32",
     .declines = gpu_support_declines_bmm_fp32,
     .run = run_fp32,
     .prepare = prepare_fp32},
    {"cublaslt", gpu_support_declines_f64, gpu_support_workspace_bmm, run, prepare, gemm_cuda_free},
    {0}};
