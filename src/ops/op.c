#include "ops/op.h"

#include "backend/thread_team.h"

#include <string.h>

static const OpDef *const defs[OP_COUNT] = {
#define OP(name, category) &name##_def,
#include "plan/ops.def"
};

#define BACKEND(name) extern const OpImpl *const impls_##name[OP_COUNT];
#include "backend/backends.def"

const OpDef *op_def(OpKind op)
{
    return defs[op];
}

/* From src/ on: where the tree lay on the machine that compiled it says nothing elsewhere. */
OpSource op_source(OpKind op)
{
    const char *path = defs[op]->source;
    for (const char *at = path; (at = strstr(at, "src/ops/")); at++) path = at;
    return (OpSource){path, defs[op]->line};
}

const OpImpl *op_impls(OpKind op, BackendId backend)
{
    static const OpImpl *const *const impls[BACKEND_COUNT] = {
#define BACKEND(name) impls_##name,
#include "backend/backends.def"
    };
    return impls[backend][op];
}

static double elements(const Tensor *tensor)
{
    return (double)plan_elements(tensor);
}

bool op_makes_again(const Plan *plan, const Node *node, int tensor)
{
    for (int i = 0; i < node->n_out; i++) {
        if (plan_out_id(plan, node, i) == tensor && (op_def(node->op)->again >> i & 1)) return true;
    }
    return node->recomputed;
}

/* FLOPs from the op, bytes from its operands: each touched once. */
OpCost op_cost(const Plan *plan, const Node *node)
{
    const OpDef *def = op_def(node->op);
    OpCost cost = {0};
    if (def->cost) cost = def->cost(plan, node);
    if (def->flops_in > 0) cost.flops += def->flops_in * elements(plan_in(plan, node, 0));
    if (def->flops_out > 0) cost.flops += def->flops_out * elements(plan_out(plan, node, 0));
    if (cost.bytes > 0) return cost;
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const int id = plan->operands[node->first + i];
        if (id != PLAN_NONE) cost.bytes += (double)plan_bytes(&plan->tensors[id]);
    }
    return cost;
}

/* A dtype is refused in a role that plan/dtypes.def does not give it, so that nothing reads it as another. */
static Status check_role(const Node *node, const Tensor *t, DTypeRole role)
{
    if (!t || plan_dtype_can_be(t->dtype, role)) return ST_OK;
    return FAIL(ST_UNSUPPORTED, "%s (%s): nothing computes with the dtype of '%s' as %s",
                plan_op_name(node->op), node->scope, t->name, plan_role_name(role));
}

static Status check_dtypes(const Plan *plan, const Node *node)
{
    const OpDef *def = op_def(node->op);
    for (int i = 0; i < node->n_out; i++) {
        const int role = i < OP_ROLES ? def->out_role[i] : DTYPE_STORAGE;
        TRY(check_role(node, plan_out(plan, node, i), (DTypeRole)role));
    }
    for (int i = 0; i < node->n_in; i++) {
        const int role = i < OP_ROLES ? def->in_role[i] : DTYPE_STORAGE;
        TRY(check_role(node, plan_in(plan, node, i), (DTypeRole)role));
    }
    return ST_OK;
}

bool op_has_f64(const Plan *plan, const Node *node)
{
    bool any = false;
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const int id = plan->operands[node->first + i];
        const Tensor *t = id == PLAN_NONE ? NULL : &plan->tensors[id];
        any |= t && t->dtype == DT_F64 && t->kind != TK_STATE;
    }
    return any;
}

static const char reference_name[] = "reference";

Status op_choose(const Plan *plan, const Node *node, BackendId backend, const char *want,
                 OpImpl *out)
{
    const char *why = NULL;
    TRY(check_dtypes(plan, node));
    for (const OpImpl *impl = op_impls(node->op, backend); impl->name; impl++) {
        if (want && strcmp(want, impl->name) != 0) continue;
        why = impl->declines ? impl->declines(plan, node) : NULL;
        if (why) continue;
        *out = *impl;
        return ST_OK;
    }
    if (backend == BACKEND_cpu && (!want || strcmp(want, reference_name) == 0)) {
        *out = (OpImpl){.name = reference_name, .run = op_def(node->op)->reference};
        return ST_OK;
    }
    return FAIL(ST_UNSUPPORTED, "%s (%s) cannot run on %s%s%s: %s", plan_op_name(node->op),
                node->scope, backend_api(backend)->name, want ? " as " : "", want ? want : "",
                why ? why : "there is no such implementation");
}

Status op_run(const OpImpl *impl, const OpCall *call)
{
    enum { AT_A_TIME = 8 };
    if (impl->run) return impl->run(call);
    thread_team_for(call->threads, plan_rows(op_out_shape(call, 0)), AT_A_TIME, impl->rows, call);
    return ST_OK;
}
