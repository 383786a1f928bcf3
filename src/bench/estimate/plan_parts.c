#include "bench/estimate/plan_parts.h"

#include <string.h>

enum { MOST_SCOPES = 5 };

static const struct {
    const char *name;
    const char *scopes[MOST_SCOPES];
} list[PLAN_PART_COUNT] = {
#define PLAN_PART(constant, name, ...) [PLAN_PART_##constant] = {name, {__VA_ARGS__}},
    PLAN_PARTS(PLAN_PART)
#undef PLAN_PART
};

const char *plan_parts_name(PlanPart part)
{
    return list[part].name;
}

static const char *within_layer(const char *scope)
{
    const char *slash = strncmp(scope, "layer.", 6) == 0 ? strchr(scope, '/') : NULL;
    return slash ? slash + 1 : scope;
}

/* The first in the list that has a beginning of the scope; the last one has every other. */
static PlanPart part_of(const char *scope)
{
    scope = within_layer(scope);
    for (int p = 0; p < PLAN_PART_COUNT; p++) {
        for (int i = 0; i < MOST_SCOPES && list[p].scopes[i]; i++) {
            if (strncmp(scope, list[p].scopes[i], strlen(list[p].scopes[i])) == 0)
                return (PlanPart)p;
        }
    }
    return PLAN_PART_OTHER;
}

void plan_parts_of(PlanParts *parts, const Plan *plan)
{
    *parts = (PlanParts){0};
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        const PlanPart part = part_of(node->scope);
        const PhaseCost cost = step_cost_of_node(plan, node);
        step_cost_add(&parts->phase[part][node->phase], &cost);
        if (node->phase >= PHASE_FORWARD) step_cost_add(&parts->step[part], &cost);
    }
}
