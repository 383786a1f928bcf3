#include "base/array.h"
#include "model/stages.h"
#include "ops/fp8/amax_history.h"
#include "ops/fp8/quantize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tensor that products read, and how they want it. */
typedef struct Quantized {
    QuantizeClass class;
    bool stored, transposed;
    bool made; /* its node is in the plan */
    int slot;  /* among the numbers that stay from step to step */
    int q, scale, q_transposed, scale_transposed;
} Quantized;

typedef struct Work {
    Builder *b;
    Model *model;
    Quantized *tensors; /* of each tensor of the plan as it was */
    int n;              /* of them that are quantized */
} Work;

/* An operand of a product: which matrix, and whether its rows lie along k as it is stored. */
typedef struct Side {
    int tensor;
    bool transposed;
    QuantizeClass class;
} Side;

/* How a recipe shares scales: one for all; one for each row; one for each block of a row, and of weights for
 * each square. Where fewer numbers share a scale, gradients fit into e4m3, which has one bit more. */
static const struct Recipe {
    bool by_row, by_block;
    DType gradients;
} recipes[FP8_RECIPE_COUNT] = {[FP8_RECIPE_CURRENT] = {.gradients = DT_E5M2},
                               [FP8_RECIPE_DELAYED] = {.gradients = DT_E5M2},
                               [FP8_RECIPE_ROWWISE] = {.by_row = true, .gradients = DT_E4M3},
                               [FP8_RECIPE_BLOCK] = {.by_block = true, .gradients = DT_E4M3}};

/* What GPUs multiply: k and the rows of operands are whole blocks of 16 bytes. All three products of a linear
 * layer have the same three sizes. */
static bool fits(const Tensor *t)
{
    return plan_rows(t) % 16 == 0 && plan_width(t) % 16 == 0;
}

/* A router is none: its few columns decide too much. */
static bool is_linear(const Node *node)
{
    const bool product = node->op == OP_matmul || node->op == OP_grouped_matmul;
    return product && node->layer != PLAN_NONE && transform_fp8_linear(node) < LINEAR_COUNT;
}

static bool is_wanted(const Model *model, const Node *node)
{
    return is_linear(node) &&
           config_linears_have(model->config.fp8_layers, transform_fp8_linear(node));
}

static bool is_replaced(const Work *w, const Node *node)
{
    const Plan *plan = w->b->plan;
    return is_wanted(w->model, node) && node->op == OP_matmul && fits(plan_in(plan, node, 0)) &&
           fits(plan_in(plan, node, 1));
}

static void find_sides(const Plan *plan, const Node *node, Side side[2])
{
    const bool backward = node->phase == PHASE_BACKWARD && !node->recomputed;
    const bool of_weight = backward && node->attr.transpose_a; /* d(w) = d(y)^T x */
    side[0] = (Side){plan_in_id(plan, node, 0), node->attr.transpose_a,
                     backward ? QUANTIZE_GRADIENTS : QUANTIZE_ACTIVATIONS};
    side[1] = (Side){plan_in_id(plan, node, 1), !node->attr.transpose_b,
                     of_weight ? QUANTIZE_ACTIVATIONS : QUANTIZE_WEIGHTS};
}

LinearLayer transform_fp8_linear(const Node *node)
{
    static const struct {
        const char *scope;
        LinearLayer linear;
    } list[] = {{"attn/qkv", LINEAR_QKV},
                {"attn/output", LINEAR_OUTPUT},
                {"ffn/w13", LINEAR_W13},
                {"ffn/w1", LINEAR_W13},
                {"ffn/w2", LINEAR_W2}};
    const char *slash = strchr(node->scope, '/');
    for (size_t i = 0; slash && i < sizeof list / sizeof *list; i++) {
        if (strcmp(slash + 1, list[i].scope) == 0) return list[i].linear;
    }
    return LINEAR_COUNT;
}

/* What is left of "layer.3/ffn/w2", once for all blocks. */
static void note_left(Model *model, const Node *node)
{
    char *names = model->fp8.left;
    const size_t n = strlen(names), size = sizeof model->fp8.left;
    const char *slash = strchr(node->scope, '/'), *name = slash ? slash + 1 : node->scope;
    if (node->phase != PHASE_FORWARD || strstr(names, name)) return;
    snprintf(names + n, size - n, "%s%s", n ? ", " : "", name);
}

static void find_quantized(Work *w)
{
    const Plan *plan = w->b->plan;
    for (int i = 0; i < plan->n_nodes; i++) {
        Side side[2];
        if (!is_wanted(w->model, &plan->nodes[i])) continue;
        if (!is_replaced(w, &plan->nodes[i])) {
            note_left(w->model, &plan->nodes[i]);
            continue;
        }
        find_sides(plan, &plan->nodes[i], side);
        for (int s = 0; s < 2; s++) {
            Quantized *t = &w->tensors[side[s].tensor];
            if (!t->stored && !t->transposed) t->slot = w->n++;
            t->class = side[s].class;
            t->stored |= !side[s].transposed;
            t->transposed |= side[s].transposed;
        }
    }
}

/* ---- the numbers that stay ---- */

static void add_history(Work *w)
{
    Model *m = w->model;
    const bool delayed = m->config.fp8_recipe == FP8_RECIPE_DELAYED;
    if (w->n == 0 || (!delayed && m->mode != MODE_TRAIN)) return;
    m->fp8.amax = builder_tensor(w->b, "amax", TK_STATE, DT_F32, DIMS(w->n));
    if (!delayed) return;
    m->fp8.history =
        builder_tensor(w->b, "amax history", TK_STATE, DT_F32, DIMS(w->n, AMAX_HISTORY_STEPS));
    m->fp8.recent = builder_tensor(w->b, "recent amax", TK_STATE, DT_F32, DIMS(w->n));
}

static int slot_of(Work *w, const char *name, int of_all, int slot)
{
    return of_all == PLAN_NONE ? PLAN_NONE : builder_view(w->b, name, of_all, slot, DIMS(1), 1);
}

void transform_fp8_end(Builder *b, const Model *model, bool has_norm)
{
    if (model->config.precision != PRECISION_FP8 || model->fp8.amax == PLAN_NONE) return;
    const bool train = model->mode == MODE_TRAIN;
    const int state = train ? model->state : PLAN_NONE;
    builder_scope(b, PLAN_NONE, train ? "optimizer/amax" : "amax");
    builder_node(b, OP_amax_history,
                 IDS(state, model->fp8.amax, model->fp8.history, model->fp8.recent),
                 IDS(state, model->fp8.amax, model->fp8.history))
        ->accumulate = has_norm;
}

/* ---- nodes ---- */

static int64_t blocks(int64_t size)
{
    return (size + QUANTIZE_BLOCK - 1) / QUANTIZE_BLOCK;
}

static void add_pair(Work *w, const Quantized *t, const char *name, int64_t rows, int64_t cols,
                     int out[2])
{
    const struct Recipe *recipe = &recipes[w->model->config.fp8_recipe];
    const bool weight = t->class == QUANTIZE_WEIGHTS, gradient = t->class == QUANTIZE_GRADIENTS;
    const bool square = recipe->by_block && weight, each = recipe->by_row || recipe->by_block;
    char scale[PLAN_NAME];
    snprintf(scale, sizeof scale, "scale of %.40s", name);
    out[0] = builder_tensor(w->b, name, weight ? TK_QUANTIZED : TK_ACTIVATION,
                            gradient ? recipe->gradients : DT_E4M3, DIMS(rows, cols));
    out[1] = builder_tensor(w->b, scale, TK_ACTIVATION, DT_F32,
                            DIMS(square ? blocks(rows)
                                 : each ? rows
                                        : 1,
                                 recipe->by_block ? blocks(cols) : 1));
}

static void quantize(Work *w, int tensor)
{
    Quantized *t = &w->tensors[tensor];
    const Tensor x = *builder_at(w->b, tensor);
    const int64_t rows = plan_rows(&x), cols = plan_width(&x);
    int out[5] = {PLAN_NONE, PLAN_NONE, PLAN_NONE, PLAN_NONE, PLAN_NONE};
    char name[PLAN_NAME];
    snprintf(name, sizeof name, "%.40s fp8", x.name);
    if (t->stored) add_pair(w, t, name, rows, cols, out + QUANTIZE_OUT_Q);
    snprintf(name, sizeof name, "%.40s^T fp8", x.name);
    if (t->transposed) add_pair(w, t, name, cols, rows, out + QUANTIZE_OUT_TRANSPOSED);
    const int amax = slot_of(w, "its amax", w->model->fp8.amax, t->slot);
    const int recent = slot_of(w, "its recent amax", w->model->fp8.recent, t->slot);
    out[QUANTIZE_OUT_AMAX] = amax;
    builder_node(w->b, OP_quantize, out, 5, IDS(tensor, recent, amax))->fn = (int)t->class;
    t->q = out[QUANTIZE_OUT_Q];
    t->scale = out[QUANTIZE_OUT_SCALE];
    t->q_transposed = out[QUANTIZE_OUT_TRANSPOSED];
    t->scale_transposed = out[QUANTIZE_OUT_TRANSPOSED_SCALE];
    t->made = true;
}

static void go_on_as(Builder *b, const Node *node)
{
    b->phase = node->phase;
    b->layer = node->layer;
    memcpy(b->scope, node->scope, sizeof b->scope);
}

static void mark_recomputed(Builder *b, const Node *node)
{
    if (b->status == ST_OK) b->plan->nodes[b->plan->n_nodes - 1].recomputed = node->recomputed;
}

static void multiply(Work *w, const Node *node)
{
    const Plan *plan = w->b->plan;
    const int out = plan_out_id(plan, node, 0);
    const int bias = plan_in_id(plan, node, 2), c = plan_in_id(plan, node, 3);
    Side side[2];
    int x[2], scale[2];
    find_sides(plan, node, side);
    go_on_as(w->b, node);
    for (int s = 0; s < 2; s++) {
        const Quantized *t = &w->tensors[side[s].tensor];
        if (!t->made) {
            quantize(w, side[s].tensor);
            mark_recomputed(w->b, node);
        }
        x[s] = side[s].transposed ? t->q_transposed : t->q;
        scale[s] = side[s].transposed ? t->scale_transposed : t->scale;
    }
    NodeAttr *attr = builder_node(w->b, OP_scaled_matmul, IDS(out),
                                  IDS(x[0], x[1], scale[0], scale[1], bias, c));
    attr->transpose_b = true;
    attr->accumulate = node->attr.accumulate;
    attr->gradient = node->phase == PHASE_BACKWARD && !node->recomputed;
    mark_recomputed(w->b, node);
}

static void rebuild(Work *w)
{
    Plan *plan = w->b->plan;
    CLEANUP(array_free) Node *old = plan->nodes;
    const int n = plan->n_nodes;
    plan->nodes = NULL;
    plan->n_nodes = 0;
    for (int i = 0; i < n && w->b->status == ST_OK; i++) {
        if (is_replaced(w, &old[i]))
            multiply(w, &old[i]);
        else
            w->b->status = plan_append_node(plan, &old[i]);
    }
}

void transform_fp8(Builder *b, Model *model)
{
    if (model->config.precision != PRECISION_FP8) return;
    CLEANUP(array_free)
    Quantized *tensors = calloc((size_t)b->plan->n_tensors + 1, sizeof *tensors);
    Work w = {b, model, tensors, 0};
    if (!tensors) {
        b->status = NO_MEMORY("to plan 8-bit operands");
        return;
    }
    find_quantized(&w);
    add_history(&w);
    rebuild(&w);
}
