/* cuDNN's fused attention, 16 bit, for head widths it has kernels for. The graph is the one that its
 * engines recognise: the order of the operations matters. Gradients of q are summed with atomics in
 * fp32, so they may differ in their last bits from run to run. */
#include "ops/attention_cuda/attention_flash_cuda.h"
#include "ops/attention_cuda/cudnn_graph.h"
#include "ops/cuda/impls_cuda.h"
#include "ops/head_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = 16 };

enum Uid { Q = 1, K, V, OUT, LSE, SCALE, HIDDEN, ONE, DOUT, DQ, DK, DV, DQ_SUM, ROW_SUM };

/* Heads of width D: element (b, h, t, d) at b * batch + h * D + t * row + d. */
typedef struct Shape {
    int64_t B, H, T, D;
    int64_t in_row, out_row; /* elements from token to token in q, k, v and in the result */
    cudnnDataType_t type;
    bool causal, backward;
} Shape;

typedef struct AttentionPlan {
    Shape shape;
    CudnnGraph graph;
} AttentionPlan;

typedef struct AttentionPlans {
    AttentionPlan *plan[SHAPES];
    int n;
} AttentionPlans;

typedef struct AttentionState {
    const AttentionPlan *plan;
    void *slot; /* cuDNN's workspace, where a few bytes are enough */
} AttentionState;

static Shape shape_of(const OpCall *call, int q, bool backward)
{
    const NodeAttr *attr = &call->node->attr;
    const Tensor *in = op_in_shape(call, q);
    const Tensor *out = backward ? op_in_shape(call, 4) : op_out_shape(call, 0);
    Shape s;
    memset(&s, 0, sizeof s); /* compared byte by byte */
    s.B = plan_rows(in) / attr->tokens;
    s.H = attr->heads;
    s.T = attr->tokens;
    s.D = plan_width(in) / attr->heads;
    s.in_row = in->ld;
    s.out_row = out->ld;
    if (in->dtype != DT_BF16 && in->dtype != DT_F16) plan_dtype_unknown(in->dtype, "cuDNN");
    s.type = in->dtype == DT_BF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_HALF;
    s.causal = attr->causal;
    s.backward = backward;
    return s;
}

/* ---- the graphs ---- */

typedef struct Dims {
    int64_t head[4], in[4], out[4];          /* [B, H, T, D] */
    int64_t transposed[4], in_transposed[4]; /* [B, H, D, T] */
    int64_t square[4], score[4], score_t[4]; /* [B, H, T, T] */
    int64_t row[4], row_stride[4];           /* [B, H, T, 1] */
    int64_t dense[4];
} Dims;

static Dims dims_of(const Shape *s)
{
    const int64_t B = s->B, H = s->H, T = s->T, D = s->D, r = s->in_row, o = s->out_row;
    return (Dims){.head = {B, H, T, D},
                  .in = {T * r, D, r, 1},
                  .out = {T * o, D, o, 1},
                  .transposed = {B, H, D, T},
                  .in_transposed = {T * r, D, 1, r},
                  .square = {B, H, T, T},
                  .score = {H * T * T, T * T, T, 1},
                  .score_t = {H * T * T, T * T, 1, T},
                  .row = {B, H, T, 1},
                  .row_stride = {H * T, T, 1, 1},
                  .dense = {H * T * D, T * D, D, 1}};
}

static Descriptor fp32_scores(CudnnGraph *g, const Dims *d)
{
    return cudnn_graph_virtual(g, CUDNN_DATA_FLOAT, d->square, d->score);
}

static Descriptor pointwise(CudnnGraph *g, const Dims *d, cudnnPointwiseMode_t mode, Descriptor x,
                            Descriptor b)
{
    const Descriptor y = fp32_scores(g, d);
    cudnn_graph_pointwise(g, mode, CUDNN_DATA_FLOAT, x, b, NULL, y);
    return y;
}

/* Scores of columns right of the diagonal become -infinity. */
static Descriptor mask(CudnnGraph *g, const Dims *d, Descriptor scores)
{
    const Descriptor row = cudnn_graph_virtual(g, CUDNN_DATA_INT32, d->square, d->score);
    const Descriptor col = cudnn_graph_virtual(g, CUDNN_DATA_INT32, d->square, d->score);
    const Descriptor seen = cudnn_graph_virtual(g, CUDNN_DATA_BOOLEAN, d->square, d->score);
    const Descriptor masked = fp32_scores(g, d);
    cudnn_graph_index(g, 2, scores, row);
    cudnn_graph_index(g, 3, scores, col);
    cudnn_graph_pointwise(g, CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, row, col, NULL, seen);
    cudnn_graph_pointwise(g, CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, scores,
                          cudnn_graph_scalar(g, HIDDEN), seen, masked);
    return masked;
}

static Descriptor row_tensor(CudnnGraph *g, const Dims *d)
{
    return cudnn_graph_virtual(g, CUDNN_DATA_FLOAT, d->row, d->row_stride);
}

static void forward_graph(CudnnGraph *g, const Shape *s)
{
    const Dims d = dims_of(s);
    const Descriptor q = cudnn_graph_tensor(g, Q, s->type, d.head, d.in);
    const Descriptor kt = cudnn_graph_tensor(g, K, s->type, d.transposed, d.in_transposed);
    const Descriptor v = cudnn_graph_tensor(g, V, s->type, d.head, d.in);
    const Descriptor out = cudnn_graph_tensor(g, OUT, s->type, d.head, d.out);
    const Descriptor lse = cudnn_graph_tensor(g, LSE, CUDNN_DATA_FLOAT, d.row, d.row_stride);

    const Descriptor raw = fp32_scores(g, &d);
    cudnn_graph_matmul(g, q, kt, raw);
    Descriptor scores = pointwise(g, &d, CUDNN_POINTWISE_MUL, raw, cudnn_graph_scalar(g, SCALE));
    if (s->causal) scores = mask(g, &d, scores);
    const Descriptor most = row_tensor(g, &d), sum = row_tensor(g, &d), log_sum = row_tensor(g, &d);
    cudnn_graph_reduce(g, CUDNN_REDUCE_TENSOR_MAX, scores, most);
    const Descriptor below = pointwise(g, &d, CUDNN_POINTWISE_SUB, scores, most);
    const Descriptor e = pointwise(g, &d, CUDNN_POINTWISE_EXP, below, NULL);
    cudnn_graph_reduce(g, CUDNN_REDUCE_TENSOR_ADD, e, sum);
    cudnn_graph_pointwise(g, CUDNN_POINTWISE_LOG, CUDNN_DATA_FLOAT, sum, NULL, NULL, log_sum);
    cudnn_graph_pointwise(g, CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT, most, log_sum, NULL, lse);
    const Descriptor p = cudnn_graph_virtual(g, s->type, d.square, d.score);
    cudnn_graph_pointwise(g, CUDNN_POINTWISE_DIV, CUDNN_DATA_FLOAT, e, sum, NULL, p);
    cudnn_graph_matmul(g, p, v, out);
}

/* delta = rowsum(dout * out), in memory because two kernels share it. */
static Descriptor row_sums(CudnnGraph *g, const Shape *s, const Dims *d, Descriptor dout,
                           Descriptor out)
{
    const int64_t stride[4] = {s->H * s->T * s->D, s->T * s->D, s->H * s->D, 1};
    const Descriptor product = cudnn_graph_virtual(g, CUDNN_DATA_FLOAT, d->head, stride);
    const Descriptor sum = row_tensor(g, d);
    const Descriptor kept = cudnn_graph_tensor(g, ROW_SUM, CUDNN_DATA_FLOAT, d->row, d->row_stride);
    cudnn_graph_pointwise(g, CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, dout, out, NULL, product);
    cudnn_graph_reduce(g, CUDNN_REDUCE_TENSOR_ADD, product, sum);
    cudnn_graph_pointwise(g, CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, sum, cudnn_graph_scalar(g, ONE),
                          NULL, kept);
    return kept;
}

static void backward_graph(CudnnGraph *g, const Shape *s)
{
    const Dims d = dims_of(s);
    const Descriptor q = cudnn_graph_tensor(g, Q, s->type, d.head, d.in);
    const Descriptor kt = cudnn_graph_tensor(g, K, s->type, d.transposed, d.in_transposed);
    const Descriptor vt = cudnn_graph_tensor(g, V, s->type, d.transposed, d.in_transposed);
    const Descriptor out = cudnn_graph_tensor(g, OUT, s->type, d.head, d.out);
    const Descriptor dout = cudnn_graph_tensor(g, DOUT, s->type, d.head, d.out);
    const Descriptor lse = cudnn_graph_tensor(g, LSE, CUDNN_DATA_FLOAT, d.row, d.row_stride);
    const Descriptor dq = cudnn_graph_tensor(g, DQ, s->type, d.head, d.in);
    const Descriptor dk = cudnn_graph_tensor(g, DK, s->type, d.head, d.in);
    const Descriptor dv = cudnn_graph_tensor(g, DV, s->type, d.head, d.in);
    const Descriptor scale = cudnn_graph_scalar(g, SCALE);

    const Descriptor delta = row_sums(g, s, &d, dout, out);
    const Descriptor raw = fp32_scores(g, &d);
    cudnn_graph_matmul(g, q, kt, raw);
    const Descriptor scaled = pointwise(g, &d, CUDNN_POINTWISE_MUL, raw, scale);
    Descriptor scores = pointwise(g, &d, CUDNN_POINTWISE_SUB, scaled, lse);
    if (s->causal) scores = mask(g, &d, scores);
    const Descriptor p = pointwise(g, &d, CUDNN_POINTWISE_EXP, scores, NULL);
    const Descriptor pt = cudnn_graph_virtual(g, s->type, d.square, d.score_t);
    cudnn_graph_reshape(g, p, pt);
    cudnn_graph_matmul(g, pt, dout, dv);

    const Descriptor dp = fp32_scores(g, &d);
    cudnn_graph_matmul(g, dout, vt, dp);
    const Descriptor centred = pointwise(g, &d, CUDNN_POINTWISE_SUB, dp, delta);
    const Descriptor weighted = pointwise(g, &d, CUDNN_POINTWISE_MUL, centred, p);
    const Descriptor ds = pointwise(g, &d, CUDNN_POINTWISE_MUL, weighted, scale);
    const Descriptor dst = cudnn_graph_virtual(g, s->type, d.square, d.score_t);
    cudnn_graph_reshape(g, ds, dst);
    cudnn_graph_matmul(g, dst, q, dk);

    const Descriptor k = cudnn_graph_virtual(g, s->type, d.head, d.in);
    const Descriptor sum = cudnn_graph_tensor(g, DQ_SUM, CUDNN_DATA_FLOAT, d.head, d.dense);
    cudnn_graph_reshape(g, kt, k);
    cudnn_graph_matmul(g, ds, k, sum);
    cudnn_graph_pointwise(g, CUDNN_POINTWISE_IDENTITY, CUDNN_DATA_FLOAT, sum, NULL, NULL, dq);
}

/* ---- plans, one for each shape ---- */

static void release_plans(void *object)
{
    AttentionPlans *plans = object;
    for (int i = 0; i < plans->n; i++) {
        cudnn_graph_free(&plans->plan[i]->graph);
        free(plans->plan[i]);
    }
    free(plans);
}

static Status plans_of(Backend *be, AttentionPlans **out)
{
    *out = cuda_backend_kept(be, release_plans);
    if (*out) return ST_OK;
    *out = calloc(1, sizeof **out);
    if (!*out) return NO_MEMORY("for attention plans");
    return cuda_backend_keep(be, *out, release_plans);
}

static Status compile(AttentionPlan *plan, cudnnHandle_t handle)
{
    cudnn_graph_init(&plan->graph);
    (plan->shape.backward ? backward_graph : forward_graph)(&plan->graph, &plan->shape);
    TRY(cudnn_graph_plan(&plan->graph, handle));
    if (plan->graph.workspace <= GPU_SUPPORT_CUDNN) return ST_OK;
    return FAIL(
        ST_UNSUPPORTED,
        "cuDNN's attention asks for %lld bytes of workspace here: choose another --attention",
        (long long)plan->graph.workspace);
}

static Status find_plan(const OpCall *call, const Shape *shape, const AttentionPlan **out)
{
    AttentionPlans *plans = NULL;
    cudnnHandle_t handle = NULL; /* kept before the plans, so released after them */
    TRY(cudnn_graph_handle(call->backend, &handle));
    TRY(plans_of(call->backend, &plans));
    for (int i = 0; i < plans->n; i++) {
        if (memcmp(&plans->plan[i]->shape, shape, sizeof *shape) != 0) continue;
        *out = plans->plan[i];
        return ST_OK;
    }
    if (plans->n == SHAPES) return FAIL(ST_FAILED, "too many shapes of attention in one plan");
    AttentionPlan *plan = calloc(1, sizeof *plan);
    if (!plan) return NO_MEMORY("for an attention plan");
    plan->shape = *shape;
    const Status status = compile(plan, handle);
    if (status != ST_OK) {
        cudnn_graph_free(&plan->graph);
        free(plan);
        return status;
    }
    *out = plans->plan[plans->n++] = plan;
    return ST_OK;
}

static Status prepare_node(const OpCall *call, int q, bool backward)
{
    const Shape shape = shape_of(call, q, backward);
    AttentionState *state = calloc(1, sizeof *state);
    if (!state) return NO_MEMORY("for an attention plan");
    *call->state = state;
    TRY(find_plan(call, &shape, &state->plan));
    state->slot = cuda_backend_slot(call->backend, (size_t)state->plan->graph.workspace);
    return ST_OK;
}

static Status prepare(const OpCall *call)
{
    return prepare_node(call, 0, false);
}

static Status prepare_grad(const OpCall *call)
{
    return prepare_node(call, 1, true);
}

/* ---- running ---- */

static void *in(const OpCall *call, int i)
{
    return call->memory[plan_in_id(call->plan, call->node, i)];
}

/* The last of the n operands is HIDDEN, which only a causal graph has. */
static Status run_graph(const OpCall *call, int n, const int64_t *uids, void *const *pointers)
{
    const AttentionState *state = *call->state;
    return cudnn_graph_run(&state->plan->graph, state->plan->shape.causal ? n : n - 1, uids,
                           pointers, state->slot ? state->slot : call->workspace);
}

static Status run(const OpCall *call)
{
    float scale = (float)call->node->attr.scale, hidden = -INFINITY;
    const int64_t uids[] = {Q, K, V, OUT, LSE, SCALE, HIDDEN};
    void *const pointers[] = {in(call, 0),     in(call, 1), in(call, 2), op_out(call, 0),
                              op_out(call, 1), &scale,      &hidden};
    return run_graph(call, sizeof uids / sizeof *uids, uids, pointers);
}

static Status run_grad(const OpCall *call)
{
    const Tensor *lse = op_in_shape(call, 5);
    float scale = (float)call->node->attr.scale, hidden = -INFINITY, one = 1;
    char *sums = (char *)call->workspace + GPU_SUPPORT_CUDNN;
    char *dq_sum = sums + gpu_support_attention_row_bytes(plan_elements(lse));
    const int64_t uids[] = {Q,  K,  V,     OUT, DOUT,    LSE,    DQ,
                            DK, DV, SCALE, ONE, ROW_SUM, DQ_SUM, HIDDEN};
    void *const pointers[] = {
        in(call, 1),     in(call, 2),     in(call, 3),     in(call, 4), in(call, 0), in(call, 5),
        op_out(call, 0), op_out(call, 1), op_out(call, 2), &scale,      &one,        sums,
        dq_sum,          &hidden};
    return run_graph(call, sizeof uids / sizeof *uids, uids, pointers);
}

const OpImpl attention_cuda[] = {{"cudnn", gpu_support_attention_declines_cudnn,
                                  gpu_support_attention_workspace_cudnn, run, prepare, free},
                                 ATTENTION_FLASH,
                                 {0}};
const OpImpl attention_grad_cuda[] = {{"cudnn", gpu_support_attention_declines_cudnn_grad,
                                       gpu_support_attention_workspace_cudnn_grad, run_grad,
                                       prepare_grad, free, true},
                                      ATTENTION_FLASH_GRAD,
                                      {0}};
