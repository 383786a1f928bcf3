#include "model/step_cost.h"

#include "ops/op.h"

#include <math.h>

void step_cost_add(PhaseCost *to, const PhaseCost *cost)
{
    to->nodes += cost->nodes;
    to->flops += cost->flops;
    to->matmul_flops += cost->matmul_flops;
    to->recomputed_flops += cost->recomputed_flops;
    to->bytes += cost->bytes;
    to->wire += cost->wire;
}

PhaseCost step_cost_of_node(const Plan *plan, const Node *node)
{
    const bool multiplies = plan_category_multiplies(plan_op_category(node->op));
    const OpCost op = op_cost(plan, node);
    PhaseCost one = {.nodes = 1, .flops = op.flops, .bytes = op.bytes, .wire = op.wire};
    if (node->recomputed)
        one.recomputed_flops = op.flops;
    else if (multiplies)
        one.matmul_flops = op.flops;
    const double runs = (double)plan_phase_runs(plan, node->phase);
    one.nodes *= plan_phase_runs(plan, node->phase);
    one.flops *= runs;
    one.matmul_flops *= runs;
    one.recomputed_flops *= runs;
    one.bytes *= runs;
    one.wire *= runs;
    return one;
}

StepCost step_cost_of(const Plan *plan)
{
    StepCost cost = {0};
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        const PhaseCost one = step_cost_of_node(plan, node);
        step_cost_add(&cost.phase[node->phase], &one);
    }
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) step_cost_add(&cost.step, &cost.phase[p]);
    return cost;
}

double step_cost_intensity(const PhaseCost *cost)
{
    return cost->bytes > 0 ? cost->flops / cost->bytes : NAN;
}
