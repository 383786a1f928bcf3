#include "model/xform_overlap.h"

static bool makes_weight_gradient(const Plan *plan, const Node *node)
{
    if (node->op != OP_matmul || node->phase != PHASE_BACKWARD) return false;
    return plan_out(plan, node, 0)->kind == TK_GRAD;
}

void xform_overlap(Plan *plan)
{
    int begin = 0, end = 0;
    plan_phase_nodes(plan, PHASE_BACKWARD, &begin, &end);
    int before[2] = {PLAN_NONE, PLAN_NONE}; /* the last two that run aside, the older one first */
    for (int n = begin; n < end; n++) {
        Node *node = &plan->nodes[n];
        if (!makes_weight_gradient(plan, node)) continue;
        node->aside = true;
        node->joined = end;
        if (before[0] != PLAN_NONE) plan->nodes[before[0]].joined = n;
        before[0] = before[1];
        before[1] = n;
    }
}
