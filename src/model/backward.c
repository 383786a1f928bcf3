#include "model/stages.h"
#include "ops/op.h"
#include "plan/step_state.h"

#include <string.h>

static bool any_gradient(const Builder *b, const Node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        if (builder_grad(b, plan_out_id(b->plan, node, i)) != PLAN_NONE) return true;
    }
    return false;
}

int backward_seed(Builder *b, const Model *model)
{
    const StepState seed = model->config.accumulate > 1 ? STATE_LOSS_SEED : STATE_LOSS_SCALE;
    return builder_view(b, "d(loss)", model->state, seed, DIMS(1), 1);
}

void backward_build(Builder *b, const Model *model)
{
    if (model->config.subject == SUBJECT_ATTENTION) {
        builder_grad_add(b, model->alone.out, model->alone.dout);
    } else if (model->head.n <= 1) {
        builder_grad_add(b, model->loss, backward_seed(b, model));
    }
    b->phase = PHASE_BACKWARD;
    for (int i = b->plan->n_nodes; i-- > 0 && b->status == ST_OK;) {
        const Node node = b->plan->nodes[i]; /* a copy: nodes move while the plan grows */
        if (node.phase != PHASE_FORWARD || !any_gradient(b, &node)) continue;
        b->layer = node.layer;
        memcpy(b->scope, node.scope, sizeof b->scope);
        if (op_def(node.op)->grad) op_def(node.op)->grad(b, &node);
    }
}
