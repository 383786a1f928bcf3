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

Status op_check_whole(const Node *node, const Tensor *tensor)
{
    if (!tensor || plan_contiguous(tensor)) return ST_OK;
    return FAIL(ST_FAILED, "%s (%s): '%s' is a window with gaps between its rows",
                plan_op_name(node->op), node->scope, tensor->name);
}

Status op_check_contiguous(const Plan *plan, const Node *node)
{
    for (int i = 0; i < node->n_out; i++) TRY(op_check_whole(node, plan_out(plan, node, i)));
    for (int i = 0; i < node->n_in; i++) TRY(op_check_whole(node, plan_in(plan, node, i)));
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

Status op_check_heads(const Node *node, const Tensor *t)
{
    const NodeAttr *attr = &node->attr;
    const int64_t H = attr->heads, W = plan_width(t), D = attr->head_dim ? attr->head_dim : W / H;
    const char *op = plan_op_name(node->op);
    if (t->n_dims != 2 || plan_rows(t) % attr->tokens || D <= 0 || W % D) {
        return FAIL(ST_FAILED, "%s (%s): '%s' is not a stack of %lld heads", op, node->scope,
                    t->name, (long long)H);
    }
    if (H % (W / D) == 0) return ST_OK;
    return FAIL(ST_FAILED, "%s (%s): %lld heads of q cannot share the %lld of '%s' evenly", op,
                node->scope, (long long)H, (long long)(W / D), t->name);
}

Status op_check_window(const Node *node)
{
    const NodeAttr *attr = &node->attr;
    if (attr->window == 0 || (attr->window > 0 && attr->causal)) return ST_OK;
    return FAIL(ST_FAILED, "%s (%s): a window of %lld keys %s", plan_op_name(node->op), node->scope,
                (long long)attr->window,
                attr->window < 0 ? "is negative" : "needs a causal mask: there is no other window");
}
