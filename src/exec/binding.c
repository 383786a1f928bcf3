#include "exec/binding.h"

#include "exec/node_waits.h"

#include <stdlib.h>

static bool permitted_alias(const Plan *plan, const Node *node, int *out, int *in, int i)
{
    (void)plan;
    const OpDef *def = op_def(node->op);
    if (i >= def->n_aliases) return false;
    *out = def->alias[i].out;
    *in = def->alias[i].in;
    return true;
}

static Status choose_one(const Binding *binding, const Node *node, const char *const *prefer,
                         OpImpl *impl)
{
    for (; prefer && *prefer; prefer++) {
        if (op_choose(binding->plan, node, binding->backend, *prefer, impl) == ST_OK) return ST_OK;
    }
    return op_choose(binding->plan, node, binding->backend, NULL, impl);
}

static bool has_queue(const Plan *plan)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        if (plan->nodes[i].queue == QUEUE_COMMUNICATION) return true;
    }
    return false;
}

/* While something travels a node has one thread less (session.c), which may need more. */
static size_t workspace_of(const Binding *binding, const Node *node, const OpImpl *impl,
                           bool beside)
{
    const int threads = binding->threads;
    const size_t all = impl->workspace(binding->plan, node, threads);
    const size_t fewer = beside ? impl->workspace(binding->plan, node, threads - 1) : 0;
    return all > fewer ? all : fewer;
}

static Status choose(Binding *binding, const char *const *prefer)
{
    const Plan *plan = binding->plan;
    const bool beside = binding->backend == BACKEND_cpu && binding->threads > 1 && has_queue(plan);
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        OpImpl *impl = &binding->impls[i];
        if (op_def(node->op)->check) TRY(op_def(node->op)->check(plan, node));
        TRY(choose_one(binding, node, prefer, impl));
        if (impl->workspace) binding->workspace[i] = workspace_of(binding, node, impl, beside);
    }
    return ST_OK;
}

Status binding_make(Binding *binding, const Plan *plan, BackendId backend, int threads,
                    const char *const *prefer)
{
    *binding = (Binding){.plan = plan, .backend = backend, .threads = threads};
    binding->impls = calloc((size_t)plan->n_nodes + 1, sizeof *binding->impls);
    binding->workspace = calloc((size_t)plan->n_nodes + 1, sizeof *binding->workspace);
    Status st = ST_OK;
    binding->waits = calloc((size_t)plan->n_nodes + 1, sizeof *binding->waits);
    if (!binding->impls || !binding->workspace || !binding->waits) {
        st = NO_MEMORY("for %d nodes", plan->n_nodes);
    }
    if (st == ST_OK) st = choose(binding, prefer);
    if (st == ST_OK)
        st = mem_plan_build(&binding->mem, plan, binding->workspace, permitted_alias,
                            backend == BACKEND_cpu);
    if (st == ST_OK) st = node_waits_find(binding);
    if (st != ST_OK) binding_free(binding);
    return st;
}

void binding_free(Binding *binding)
{
    free(binding->impls);
    free(binding->workspace);
    free(binding->waits);
    mem_plan_free(&binding->mem);
    *binding = (Binding){0};
}
