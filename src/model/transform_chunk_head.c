#include "model/transform_chunk_head.h"

#include "base/i64.h"
#include "model/stages.h"
#include "plan/op_functions.h"

/* Fewer rows would make the products slower: each reads the whole weight, and that of the weight's gradient
 * reads and writes it. Rows come in tiles of the products. */
enum { LEAST_ROWS = 2048, TILE_ROWS = 128 };

/* ---- how many rows ---- */

/* Elements for each row that the backward pass of a block has at once beside the activations: the
 * gradients at the gate and around it. Logits below that do not make the peak. */
static int64_t block_width(const ModelSpec *model)
{
    return 3 * model->d_ff + 4 * model->d_model;
}

int64_t transform_chunk_head_rows(const Config *config, int64_t N)
{
    if (config->exec == EXEC_EAGER || config->head_rows == CONFIG_HEAD_WHOLE) return N;
    if (config->head_rows > 0) return i64_min(config->head_rows, N);
    const int64_t wanted = i64_ceil_div(config->model.vocab, block_width(&config->model));
    if (wanted < 2) return N;
    /* Never fewer rows for a larger N: what a step needs grows with its batch and its context. */
    const int64_t even = i64_round_up(i64_ceil_div(N, wanted), TILE_ROWS);
    return i64_min(N, i64_max(even, LEAST_ROWS));
}

/* ---- the plan ---- */

typedef struct Head {
    Builder *b;
    Node matmul, loss; /* the nodes of the whole */
    int x, w, targets;
    int64_t N, V;
    int seed;   /* the gradient of the loss, */
    int dx, dw; /* those of the operands: PLAN_NONE without a backward pass */
    int losses; /* of each chunk */
} Head;

/* Rows [first, first + rows) of a matrix. */
static int row_window(Builder *b, int id, int64_t first, int64_t rows)
{
    if (id == PLAN_NONE) return PLAN_NONE;
    const Tensor t = *builder_at(b, id);
    return builder_view(b, t.name, id, first * t.ld, DIMS(rows, plan_width(&t)), t.ld);
}

static void scope_of(Builder *b, const Node *node)
{
    builder_scope(b, PLAN_NONE, node->scope);
}

/* out = left right; with `sum` it is added to what is there. */
static NodeAttr *add_product(const Head *h, int out, int left, int right, bool sum)
{
    NodeAttr *attr = sum ? builder_node(h->b, OP_matmul, IDS(out), IDS(left, right, PLAN_NONE, out))
                         : builder_node(h->b, OP_matmul, IDS(out), IDS(left, right));
    *attr = h->matmul.attr;
    attr->transpose_a = attr->transpose_b = false;
    attr->accumulate = sum;
    return attr;
}

/* The gradient of the chunk's logits, in their memory, and what follows from it. */
static void chunk_gradients(const Head *h, int chunk, int logits, int lse, int targets, int x,
                            int64_t first)
{
    Builder *b = h->b;
    const int64_t rows = plan_rows(builder_at(b, logits));
    const int dlogits =
        builder_tensor(b, "d(logits)", TK_LOGITS, builder_dtype(b, logits), DIMS(rows, h->V));
    builder_set_ld(b, dlogits, builder_at(b, logits)->ld);
    builder_node(b, OP_cross_entropy_grad, IDS(dlogits), IDS(h->seed, logits, targets, lse))
        ->tokens = h->N;
    scope_of(b, &h->matmul);
    add_product(h, h->dw, dlogits, x, chunk > 0)->transpose_a = true;
    add_product(h, row_window(b, h->dx, first, rows), dlogits, h->w, false);
}

static void add_chunk(const Head *h, const Model *model, int chunk)
{
    Builder *b = h->b;
    const int logits = model->logits + chunk;
    const int64_t first = chunk * model->head.rows, rows = plan_rows(builder_at(b, logits));
    const int x = row_window(b, h->x, first, rows);
    const int targets = builder_view(b, "targets", h->targets, first, DIMS(rows), rows);
    const int loss = builder_view(b, "loss part", h->losses, chunk, DIMS(1), 1);
    const DType wide = builder_dtype(b, h->losses);
    const bool backward = h->seed != PLAN_NONE;
    const int lse =
        backward ? builder_tensor(b, "loss lse", TK_ACTIVATION, wide, DIMS(rows, 1)) : PLAN_NONE;
    scope_of(b, &h->matmul);
    add_product(h, logits, x, h->w, false)->transpose_b = true;
    scope_of(b, &h->loss);
    builder_node(b, OP_cross_entropy, IDS(loss, lse), IDS(logits, targets))->tokens = h->N;
    if (backward) chunk_gradients(h, chunk, logits, lse, targets, x, first);
}

/* The logits of every chunk, one number after the other. */
static void add_logits(const Head *h, Model *model)
{
    const DType dtype = builder_dtype(h->b, model->logits);
    const int64_t rows = model->head.rows, ld = builder_at(h->b, model->logits)->ld;
    for (int i = 0; i < model->head.n; i++) {
        const int id = builder_tensor(h->b, "logits", TK_LOGITS, dtype,
                                      DIMS(i64_min(rows, h->N - i * rows), h->V));
        builder_set_ld(h->b, id, ld);
        if (i == 0) model->logits = id;
    }
}

static void start_gradients(Head *h, const Model *model)
{
    h->seed = h->dx = h->dw = PLAN_NONE;
    if (!config_mode_saves(model->mode)) return;
    h->seed = backward_seed(h->b, model);
    h->dx = builder_grad_target(h->b, h->x);
    h->dw = builder_grad_target(h->b, h->w);
}

static void build(Head *h, Model *model)
{
    Builder *b = h->b;
    add_logits(h, model);
    start_gradients(h, model);
    h->losses =
        builder_tensor(b, "loss parts", TK_ACTIVATION, model->full_dtype, DIMS(1, model->head.n));
    for (int i = 0; i < model->head.n && b->status == ST_OK; i++) add_chunk(h, model, i);
    scope_of(b, &h->loss);
    builder_node(b, OP_reduce, IDS(model->loss), IDS(h->losses))->fn = FN_ROW_SUM;
    if (h->seed == PLAN_NONE) return;
    builder_grad_add(b, h->x, h->dx);
    builder_grad_add(b, h->w, h->dw);
}

/* The plan ends with the product and the loss, and the product is x w^T without a bias. */
static bool takes(const Head *h, const Model *model)
{
    const Plan *plan = h->b->plan;
    return h->matmul.op == OP_matmul && h->loss.op == OP_cross_entropy &&
           plan_out_id(plan, &h->matmul, 0) == model->logits &&
           plan_in_id(plan, &h->matmul, 2) == PLAN_NONE && h->matmul.attr.transpose_b;
}

/* Rows of logits begin at multiples of 16 bytes, whatever the vocabulary: the fast products want that. */
static void align_rows(Builder *b, const Model *model)
{
    enum { ALIGNMENT = 16 };
    const Tensor t = *builder_at(b, model->logits);
    const int64_t elements = ALIGNMENT / (int64_t)plan_dtype_size(t.dtype);
    if (!model->eager) builder_set_ld(b, model->logits, i64_round_up(plan_width(&t), elements));
}

void transform_chunk_head(Builder *b, Model *model)
{
    Plan *plan = b->plan;
    if (model->logits == PLAN_NONE || plan->n_nodes < 2) return;
    align_rows(b, model);
    const Tensor logits = plan->tensors[model->logits];
    Head h = {.b = b,
              .matmul = plan->nodes[plan->n_nodes - 2],
              .loss = plan->nodes[plan->n_nodes - 1],
              .N = plan_rows(&logits),
              .V = plan_width(&logits)};
    const size_t bytes = plan_storage_bytes(&logits);
    model->head = (HeadChunks){.n = 1, .rows = h.N, .bytes = bytes, .whole_bytes = bytes};
    const int64_t rows = transform_chunk_head_rows(&model->config, h.N);
    if (rows >= h.N || !takes(&h, model)) return;
    h.x = plan_in_id(plan, &h.matmul, 0);
    h.w = plan_in_id(plan, &h.matmul, 1);
    h.targets = plan_in_id(plan, &h.loss, 1);
    plan->n_nodes -= 2;
    model->head.n = (int)i64_ceil_div(h.N, rows);
    model->head.rows = rows;
    model->head.gradients = config_mode_saves(model->mode);
    build(&h, model);
    model->head.bytes = plan_storage_bytes(builder_at(b, model->logits));
}
