#include "ops/op_check.h"

Status op_check_present(const Plan *plan, const Node *node, int n_out, int n_in)
{
    int i = 0, k = 0;
    while (i < n_out && plan_out(plan, node, i)) i++;
    while (k < n_in && plan_in(plan, node, k)) k++;
    if (i == n_out && k == n_in) return ST_OK;
    return FAIL(ST_FAILED, "%s (%s): %s %d is missing", plan_op_name(node->op), node->scope,
                i < n_out ? "output" : "input", i < n_out ? i : k);
}

Status op_check_contiguous(const Plan *plan, const Node *node)
{
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const int id = plan->operands[node->first + i];
        if (id != PLAN_NONE && !plan_contiguous(&plan->tensors[id])) {
            return FAIL(ST_FAILED, "%s (%s): '%s' is a window with gaps between its rows",
                        plan_op_name(node->op), node->scope, plan->tensors[id].name);
        }
    }
    return ST_OK;
}

Status op_check_dense(const Plan *plan, const Node *node, int n_out, int n_in)
{
    TRY(op_check_present(plan, node, n_out, n_in));
    return op_check_contiguous(plan, node);
}

Status op_check_elements(const Node *node, const char *name, const Tensor *tensor, int64_t want)
{
    if (plan_elements(tensor) == want) return ST_OK;
    return FAIL(ST_FAILED, "%s (%s): %s has %lld elements, not %lld", plan_op_name(node->op),
                node->scope, name, (long long)plan_elements(tensor), (long long)want);
}

Status op_check_dtype(const Node *node, const char *name, const Tensor *tensor, DType want)
{
    if (tensor->dtype == want) return ST_OK;
    return FAIL(ST_FAILED, "%s (%s): %s is %s, not %s", plan_op_name(node->op), node->scope, name,
                plan_dtype_name(tensor->dtype), plan_dtype_name(want));
}
