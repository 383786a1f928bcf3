/* Functions of one number (attr.fn, plan/op_functions.h):
 *
 * unary       y | x                s x + c, x^2, exp, log, 1/sqrt, x / (1 + exp(-x))
 * unary_grad  dx | dy, x, y        dy f'(x); x or y is absent where f' does not need it, so that it
 *                                  need not be kept
 *
 * Dtypes are free: it reads one and writes another. All may be windows with gaps between rows. */
#include "ops/elementwise.h"
#include "ops/op_check.h"
#include "plan/op_functions.h"

#include <math.h>

/* What the derivative is written with. */
static bool needs_x(int fn)
{
    return fn == FN_SQUARE || fn == FN_LOG || fn == FN_SILU;
}

static bool needs_y(int fn)
{
    return fn == FN_EXP || fn == FN_RSQRT;
}

/* Operands of one shape, or without gaps. */
static Status check_pair(const Plan *plan, const Node *node, const char *name, const Tensor *a,
                         const Tensor *b)
{
    TRY(op_check_elements(node, name, a, plan_elements(b)));
    return plan_width(a) == plan_width(b) ? ST_OK : op_check_contiguous(plan, node);
}

static Status check_fn(const Node *node)
{
    if (node->attr.fn >= FN_AFFINE && node->attr.fn <= FN_SILU) return ST_OK;
    return FAIL(ST_FAILED, "unary (%s): there is no function %d", node->scope, node->attr.fn);
}

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 1));
    TRY(check_fn(node));
    return check_pair(plan, node, "y", plan_out(plan, node, 0), plan_in(plan, node, 0));
}

static Status check_grad(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 1));
    TRY(check_fn(node));
    const int fn = node->attr.fn;
    const Tensor *dy = plan_in(plan, node, 0), *x = plan_in(plan, node, 1),
                 *y = plan_in(plan, node, 2);
    TRY(check_pair(plan, node, "dx", plan_out(plan, node, 0), dy));
    if ((needs_x(fn) && !x) || (needs_y(fn) && !y)) {
        return FAIL(ST_FAILED, "unary_grad (%s): %s is missing", node->scope,
                    needs_x(fn) ? "x" : "y");
    }
    if (x) TRY(check_pair(plan, node, "x", x, dy));
    if (y) TRY(check_pair(plan, node, "y", y, dy));
    return ST_OK;
}

static OpCost cost(const Plan *plan, const Node *node)
{
    static const double flops[] = {[FN_AFFINE] = 2, [FN_SQUARE] = 1, [FN_EXP] = 1,
                                   [FN_LOG] = 1,    [FN_RSQRT] = 2,  [FN_SILU] = 4};
    return (OpCost){.flops = flops[node->attr.fn] * (double)plan_elements(plan_in(plan, node, 0))};
}

static OpCost cost_grad(const Plan *plan, const Node *node)
{
    static const double flops[] = {[FN_AFFINE] = 1, [FN_SQUARE] = 2, [FN_EXP] = 1,
                                   [FN_LOG] = 1,    [FN_RSQRT] = 4,  [FN_SILU] = 8};
    return (OpCost){.flops = flops[node->attr.fn] * (double)plan_elements(plan_in(plan, node, 0))};
}

static void grad(Builder *b, const Node *node)
{
    const int y = plan_out_id(b->plan, node, 0), x = plan_in_id(b->plan, node, 0);
    const NodeAttr attr = node->attr;
    if (!builder_wants_grad(b, x)) return;
    const int dx = builder_grad_target(b, x);
    *builder_node(b, OP_unary_grad, IDS(dx),
                  IDS(builder_grad(b, y), needs_x(attr.fn) ? x : PLAN_NONE,
                      needs_y(attr.fn) ? y : PLAN_NONE)) = attr;
    builder_grad_add(b, x, dx);
}

static double value(const NodeAttr *attr, double x)
{
    switch (attr->fn) {
    case FN_AFFINE:
        return attr->scale * x + attr->shift;
    case FN_SQUARE:
        return x * x;
    case FN_EXP:
        return exp(x);
    case FN_LOG:
        return log(x);
    case FN_RSQRT:
        return 1 / sqrt(x);
    case FN_SILU:
        return x / (1 + exp(-x));
    default:
        return NAN;
    }
}

static double slope(const NodeAttr *attr, double x, double y)
{
    const double s = 1 / (1 + exp(-x));
    switch (attr->fn) {
    case FN_AFFINE:
        return attr->scale;
    case FN_SQUARE:
        return 2 * x;
    case FN_EXP:
        return y;
    case FN_LOG:
        return 1 / x;
    case FN_RSQRT:
        return -0.5 * y * y * y;
    case FN_SILU:
        return s * (1 + x * (1 - s));
    default:
        return NAN;
    }
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const int64_t n = x.rows * x.cols;
    for (int64_t i = 0; i < n; i++)
        elementwise_put(y, i, value(&call->node->attr, elementwise_get(x, i)));
    return ST_OK;
}

static Status reference_grad(const OpCall *call)
{
    const Operand dx = element_out(call, 0), dy = element_in(call, 0);
    const Operand x = element_in(call, 1), y = element_in(call, 2);
    const int64_t n = dy.rows * dy.cols;
    for (int64_t i = 0; i < n; i++) {
        const double at_x = x.data ? elementwise_get(x, i) : 0,
                     at_y = y.data ? elementwise_get(y, i) : 0;
        elementwise_put(dx, i, elementwise_get(dy, i) * slope(&call->node->attr, at_x, at_y));
    }
    return ST_OK;
}

const OpDef unary_def = {
    OP_SOURCE,    .alias = {{0, 0}}, .n_aliases = 1,         .check = check,
    .cost = cost, .grad = grad,      .reference = reference,
};

const OpDef unary_grad_def = {
    OP_SOURCE,           .alias = {{0, 0}}, .n_aliases = 1,
    .check = check_grad, .cost = cost_grad, .reference = reference_grad,
};
