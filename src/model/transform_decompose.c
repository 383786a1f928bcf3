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

/* The tables of this width, which all nodes share; NULL after a failure. */
static const RopeTables *tables_of_width(Builder *b, Model *model, int64_t width)
{
    for (int i = 0; i < ROPE_WIDTHS; i++) {
        RopeTables *tables = &model->rope_wide[i];
        if (tables->cos == PLAN_NONE) {
            const int64_t T = plan_rows(builder_at(b, model->rope_cos));
            tables->cos =
                builder_tensor(b, "rope cos wide", TK_CONSTANT, model->full_dtype, DIMS(T, width));
            tables->sin =
                builder_tensor(b, "rope sin wide", TK_CONSTANT, model->full_dtype, DIMS(T, width));
        }
        if (b->status != ST_OK) return NULL;
        if (plan_width(builder_at(b, tables->cos)) == width) return tables;
    }
    b->status = FAIL(ST_FAILED, "RoPE of more than %d widths in one model", ROPE_WIDTHS);
    return NULL;
}

/* The primitives of RoPE multiply by one factor per column, from tables as wide as what they turn. */
static void widen_rope(Builder *b, Model *model)
{
    for (int i = 0; i < b->plan->n_nodes; i++) {
        const Node *node = &b->plan->nodes[i];
        if (node->op != OP_rope) continue;
        const RopeTables *wide = tables_of_width(b, model, plan_width(plan_in(b->plan, node, 0)));
        if (!wide) return;
        int *in = b->plan->operands + node->first + node->n_out;
        in[3] = wide->cos;
        in[4] = wide->sin;
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
