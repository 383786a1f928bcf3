#include "model/stages.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

static bool wanted(const Model *model, OpKind op)
{
    if (!op_def(op)->decompose) return false;
    if (op == OP_softmax) return model->attention == ATTENTION_NAIVE;
    return model->eager;
}

void transform_decompose_node(Builder *b, const Model *model, const Node *node)
{
    b->phase = node->phase;
    b->layer = node->layer;
    memcpy(b->scope, node->scope, sizeof b->scope);
    if (wanted(model, node->op)) {
        op_def(node->op)->decompose(b, node);
    } else if (b->status == ST_OK) {
        b->status = plan_append_node(b->plan, node);
    }
}

/* The primitives of RoPE multiply by one factor per column, from tables as wide as q. */
static void widen_rope(Builder *b, Model *model)
{
    const int64_t T = model->config.ctx, C = model->config.model.d_model;
    model->rope_cos_full =
        builder_tensor(b, "rope cos wide", TK_CONSTANT, model->full_dtype, DIMS(T, C));
    model->rope_sin_full =
        builder_tensor(b, "rope sin wide", TK_CONSTANT, model->full_dtype, DIMS(T, C));
    for (int i = 0; i < b->plan->n_nodes; i++) {
        const Node *node = &b->plan->nodes[i];
        if (node->op != OP_rope) continue;
        int *in = b->plan->operands + node->first + node->n_out;
        in[3] = model->rope_cos_full;
        in[4] = model->rope_sin_full;
    }
}

void transform_decompose(Builder *b, Model *model)
{
    if (!model->eager && model->attention != ATTENTION_NAIVE) return;
    if (model->eager && model->rope_cos != PLAN_NONE) widen_rope(b, model);
    Node *fused = b->plan->nodes;
    const int n = b->plan->n_nodes;
    b->plan->nodes = NULL;
    b->plan->n_nodes = 0;
    for (int i = 0; i < n && b->status == ST_OK; i++) transform_decompose_node(b, model, &fused[i]);
    free(fused);
}
