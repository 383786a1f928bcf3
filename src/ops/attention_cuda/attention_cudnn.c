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

/* HIDDEN is the score of a key after the query, HIDDEN_BEFORE of one before its window. */
enum Uid { Q = 1, K, V, OUT, LSE, SCALE, HIDDEN, ONE, DOUT, DQ, DK, DV, DQ_SUM, ROW_SUM };
enum { HIDDEN_BEFORE = ROW_SUM + 1, WINDOW, UIDS };

/* Heads of width D: element (b, h, t, d) at b * T * row + h * D + t * row + d. */
typedef struct Shape {
    int64_t B, H, T, D;
    int64_t kv_heads;
    int64_t window;    /* 0: none */
    int64_t row[UIDS]; /* of a tensor of heads: elements from token to token */
    int64_t most_workspace;
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
    const GpuSupportHeads h = gpu_support_attention_heads(call->plan, call->node, q);
    Shape s;
    memset(&s, 0, sizeof s); /* compared byte by byte */
    s.B = h.B;
    s.H = h.H;
    s.T = h.T;
    s.D = h.D;
    s.kv_heads = h.H / h.group;
    s.window = h.window < h.T ? h.window : 0;
    for (int i = 0; i < 3; i++) s.row[Q + i] = op_in_shape(call, q + i)->ld;
    s.row[OUT] = (backward ? op_in_shape(call, 4) : op_out_shape(call, 0))->ld;
    if (backward) s.row[DOUT] = op_in_shape(call, 0)->ld;
    for (int i = 0; backward && i < 3; i++) s.row[DQ + i] = op_out_shape(call, i)->ld;
    s.most_workspace = backward ? (int64_t)gpu_support_attention_cudnn_bytes(call->plan, call->node)
                                : GPU_SUPPORT_CUDNN;
    if (in->dtype != DT_BF16 && in->dtype != DT_F16) plan_dtype_unknown(in->dtype, "cuDNN");
    s.type = in->dtype == DT_BF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_HALF;
    s.causal = attr->causal;
    s.backward = backward;
    return s;
}

/* ---- the graphs ---- */

typedef struct Dims {
    int64_t head[4], dense[4];               /* [B, H, T, D] */
    int64_t square[4], score[4], score_t[4]; /* [B, H, T, T] */
    int64_t row[4], row_stride[4];           /* [B, H, T, 1] */
} Dims;

static Dims dims_of(const Shape *s)
{
    const int64_t B = s->B, H = s->H, T = s->T, D = s->D;
    return (Dims){.head = {B, H, T, D},
                  .dense = {H * T * D, T * D, D, 1},
                  .square = {B, H, T, T},
                  .score = {H * T * T, T * T, T, 1},
                  .score_t = {H * T * T, T * T, 1, T},
                  .row = {B, H, T, 1},
                  .row_stride = {H * T, T, 1, 1}};
}

typedef struct Layout {
    int64_t dim[4], stride[4];
} Layout;

/* [B, heads, T, D], or [B, heads, D, T] of the same memory; k and v may have fewer heads than q. */
static Layout layout_of(const Shape *s, enum Uid uid, bool transposed)
{
    const bool keys = uid == K || uid == V || uid == DK || uid == DV;
    const int64_t B = s->B, H = keys ? s->kv_heads : s->H, T = s->T, D = s->D, row = s->row[uid];
    if (transposed) return (Layout){{B, H, D, T}, {T * row, D, 1, row}};
    return (Layout){{B, H, T, D}, {T * row, D, row, 1}};
}

static Descriptor heads(CudnnGraph *g, const Shape *s, enum Uid uid, bool transposed)
{
    const Layout l = layout_of(s, uid, transposed);
    return cudnn_graph_tensor(g, uid, s->type, l.dim, l.stride);
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

/* Scores become -infinity where a mode of x and y does not hold. */
static Descriptor hide_unless(CudnnGraph *g, const Dims *d, Descriptor scores,
                              cudnnPointwiseMode_t mode, Descriptor x, Descriptor y, int hidden)
{
    const Descriptor seen = cudnn_graph_virtual(g, CUDNN_DATA_BOOLEAN, d->square, d->score);
    const Descriptor masked = fp32_scores(g, d);
    cudnn_graph_pointwise(g, mode, CUDNN_DATA_BOOLEAN, x, y, NULL, seen);
    cudnn_graph_pointwise(g, CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, scores,
                          cudnn_graph_scalar(g, hidden), seen, masked);
    return masked;
}

static Descriptor index_of(CudnnGraph *g, const Dims *d, int64_t axis, Descriptor scores)
{
    const Descriptor index = cudnn_graph_virtual(g, CUDNN_DATA_INT32, d->square, d->score);
    cudnn_graph_index(g, axis, scores, index);
    return index;
}

/* Causal: row >= column. With a window also column + window > row, a subgraph of its own with its
 * own indices: only so do cuDNN's engines know it. */
static Descriptor mask(CudnnGraph *g, const Shape *s, const Dims *d, Descriptor scores)
{
    if (!s->causal) return scores;
    Descriptor row = index_of(g, d, 2, scores), col = index_of(g, d, 3, scores);
    scores = hide_unless(g, d, scores, CUDNN_POINTWISE_CMP_GE, row, col, HIDDEN);
    if (!s->window) return scores;
    row = index_of(g, d, 2, scores);
    col = index_of(g, d, 3, scores);
    const Descriptor end = fp32_scores(g, d);
    cudnn_graph_pointwise(g, CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT, col,
                          cudnn_graph_scalar(g, WINDOW), NULL, end);
    return hide_unless(g, d, scores, CUDNN_POINTWISE_CMP_GT, end, row, HIDDEN_BEFORE);
}

static Descriptor row_tensor(CudnnGraph *g, const Dims *d)
{
    return cudnn_graph_virtual(g, CUDNN_DATA_FLOAT, d->row, d->row_stride);
}

static void forward_graph(CudnnGraph *g, const Shape *s)
{
    const Dims d = dims_of(s);
    const Descriptor q = heads(g, s, Q, false), kt = heads(g, s, K, true);
    const Descriptor v = heads(g, s, V, false), out = heads(g, s, OUT, false);
    const Descriptor lse = cudnn_graph_tensor(g, LSE, CUDNN_DATA_FLOAT, d.row, d.row_stride);

    const Descriptor raw = fp32_scores(g, &d);
    cudnn_graph_matmul(g, q, kt, raw);
    Descriptor scores = pointwise(g, &d, CUDNN_POINTWISE_MUL, raw, cudnn_graph_scalar(g, SCALE));
    scores = mask(g, s, &d, scores);
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

/* dk or dv = a b; where heads share them, the sum of it over the heads of a group. */
static void key_gradient(CudnnGraph *g, const Shape *s, const Dims *d, Descriptor a, Descriptor b,
                         enum Uid uid)
{
    const Descriptor gradient = heads(g, s, uid, false);
    if (s->kv_heads == s->H) {
        cudnn_graph_matmul(g, a, b, gradient);
        return;
    }
    const Descriptor each = cudnn_graph_virtual(g, s->type, d->head, d->dense);
    cudnn_graph_matmul(g, a, b, each);
    cudnn_graph_reduce(g, CUDNN_REDUCE_TENSOR_ADD, each, gradient);
}

/* The transpose of scores, in 16 bits. */
static Descriptor transposed_scores(CudnnGraph *g, const Shape *s, const Dims *d, Descriptor x)
{
    const Descriptor t = cudnn_graph_virtual(g, s->type, d->square, d->score_t);
    cudnn_graph_reshape(g, x, t);
    return t;
}

static void query_gradient(CudnnGraph *g, const Shape *s, const Dims *d, Descriptor ds,
                           Descriptor kt)
{
    const Layout l = layout_of(s, K, false);
    const Descriptor k = cudnn_graph_virtual(g, s->type, l.dim, l.stride);
    const Descriptor sum = cudnn_graph_tensor(g, DQ_SUM, CUDNN_DATA_FLOAT, d->head, d->dense);
    cudnn_graph_reshape(g, kt, k);
    cudnn_graph_matmul(g, ds, k, sum);
    cudnn_graph_pointwise(g, CUDNN_POINTWISE_IDENTITY, CUDNN_DATA_FLOAT, sum, NULL, NULL,
                          heads(g, s, DQ, false));
}

static void backward_graph(CudnnGraph *g, const Shape *s)
{
    const Dims d = dims_of(s);
    const Descriptor q = heads(g, s, Q, false), kt = heads(g, s, K, true);
    const Descriptor vt = heads(g, s, V, true);
    const Descriptor out = heads(g, s, OUT, false), dout = heads(g, s, DOUT, false);
    const Descriptor lse = cudnn_graph_tensor(g, LSE, CUDNN_DATA_FLOAT, d.row, d.row_stride);
    const Descriptor scale = cudnn_graph_scalar(g, SCALE);

    const Descriptor delta = row_sums(g, s, &d, dout, out);
    const Descriptor raw = fp32_scores(g, &d);
    cudnn_graph_matmul(g, q, kt, raw);
    const Descriptor scaled = pointwise(g, &d, CUDNN_POINTWISE_MUL, raw, scale);
    const Descriptor below = pointwise(g, &d, CUDNN_POINTWISE_SUB, scaled, lse);
    const Descriptor p = pointwise(g, &d, CUDNN_POINTWISE_EXP, mask(g, s, &d, below), NULL);
    key_gradient(g, s, &d, transposed_scores(g, s, &d, p), dout, DV);

    const Descriptor dp = fp32_scores(g, &d);
    cudnn_graph_matmul(g, dout, vt, dp);
    const Descriptor centred = pointwise(g, &d, CUDNN_POINTWISE_SUB, dp, delta);
    const Descriptor weighted = pointwise(g, &d, CUDNN_POINTWISE_MUL, centred, p);
    const Descriptor ds = pointwise(g, &d, CUDNN_POINTWISE_MUL, weighted, scale);
    key_gradient(g, s, &d, transposed_scores(g, s, &d, ds), q, DK);
    query_gradient(g, s, &d, ds, kt);
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
    if (plan->graph.workspace <= plan->shape.most_workspace) return ST_OK;
    return FAIL(ST_UNSUPPORTED,
                "cuDNN's attention asks for %lld bytes of workspace here, more than %lld: use "
                "--attention flash",
                (long long)plan->graph.workspace, (long long)plan->shape.most_workspace);
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

/* The last of the n operands are HIDDEN, which only a causal graph has, and HIDDEN_BEFORE and WINDOW,
 * of one with a window. */
static Status run_graph(const OpCall *call, int n, const int64_t *uids, void *const *pointers)
{
    const AttentionState *state = *call->state;
    const Shape *s = &state->plan->shape;
    const int absent = !s->causal ? 3 : !s->window ? 2 : 0;
    return cudnn_graph_run(&state->plan->graph, n - absent, uids, pointers,
                           state->slot ? state->slot : call->workspace);
}

static float window_of(const OpCall *call)
{
    const AttentionState *state = *call->state;
    return (float)state->plan->shape.window;
}

static Status run(const OpCall *call)
{
    float scale = (float)call->node->attr.scale, hidden = -INFINITY, window = window_of(call);
    const int64_t uids[] = {Q, K, V, OUT, LSE, SCALE, HIDDEN, HIDDEN_BEFORE, WINDOW};
    void *const pointers[] = {in(call, 0),     in(call, 1),     in(call, 2),
                              op_out(call, 0), op_out(call, 1), &scale,
                              &hidden,         &hidden,         &window};
    return run_graph(call, sizeof uids / sizeof *uids, uids, pointers);
}

static Status run_grad(const OpCall *call)
{
    const Tensor *lse = op_in_shape(call, 5);
    float scale = (float)call->node->attr.scale, hidden = -INFINITY, one = 1;
    float window = window_of(call);
    char *sums =
        (char *)call->workspace + gpu_support_attention_cudnn_bytes(call->plan, call->node);
    char *dq_sum = sums + gpu_support_attention_row_bytes(plan_elements(lse));
    const int64_t uids[] = {Q,     K,   V,       OUT,    DOUT,   LSE,           DQ,    DK, DV,
                            SCALE, ONE, ROW_SUM, DQ_SUM, HIDDEN, HIDDEN_BEFORE, WINDOW};
    void *const pointers[] = {
        in(call, 1),     in(call, 2),     in(call, 3),     in(call, 4), in(call, 0), in(call, 5),
        op_out(call, 0), op_out(call, 1), op_out(call, 2), &scale,      &one,        sums,
        dq_sum,          &hidden,         &hidden,         &window};
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
