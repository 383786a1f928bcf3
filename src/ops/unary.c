/* Functions of one number (attr.fn, plan/op_functions.h):
 *
 * unary       y | x                s x + c, x^2, exp, log, 1/sqrt, x / (1 + exp(-x)), GELU in two forms
 * unary_grad  dx | dy, x, y        dy f'(x); x or y is absent where f' does not need it, so that it
 *                                  need not be kept
 *
 * Dtypes are free: it reads one and writes another. All may be windows with gaps between rows. */
#include "ops/elementwise.h"
#include "ops/op_check.h"
#include "plan/op_functions.h"

#include <math.h>

typedef struct Function {
    double flops, flops_grad; /* for each element */
    bool needs_x, needs_y;    /* what the derivative is written with */
} Function;

static const Function functions[] = {
    [FN_AFFINE] = {2, 1, false, false},    [FN_SQUARE] = {1, 2, true, false},
    [FN_EXP] = {1, 1, false, true},        [FN_LOG] = {1, 1, true, false},
    [FN_RSQRT] = {2, 4, false, true},      [FN_SILU] = {4, 8, true, false},
    [FN_GELU_TANH] = {8, 16, true, false}, [FN_GELU_ERF] = {4, 9, true, false}};

/* Operands of one shape, or without gaps. */
static Status check_pair(const Plan *plan, const Node *node, const char *name, const Tensor *a,
                         const Tensor *b)
{
    TRY(op_check_elements(node, name, a, plan_elements(b)));
    return plan_width(a) == plan_width(b) ? ST_OK : op_check_contiguous(plan, node);
}

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 1));
    if (node->attr.fn < FN_AFFINE || node->attr.fn > FN_GELU_ERF)
        return FAIL(ST_FAILED, "unary (%s): there is no function %d", node->scope, node->attr.fn);
    const bool gradient = node->op == OP_unary_grad;
    const Tensor *in = plan_in(plan, node, 0);
    TRY(check_pair(plan, node, gradient ? "dx" : "y", plan_out(plan, node, 0), in));
    if (!gradient) return ST_OK;
    const Function *f = &functions[node->attr.fn];
    const Tensor *x = plan_in(plan, node, 1), *y = plan_in(plan, node, 2);
    if ((f->needs_x && !x) || (f->needs_y && !y)) {
        return FAIL(ST_FAILED, "unary_grad (%s): %s is missing", node->scope,
                    f->needs_x ? "x" : "y");
    }
    if (x) TRY(check_pair(plan, node, "x", x, in));
    return y ? check_pair(plan, node, "y", y, in) : ST_OK;
}

static OpCost cost(const Plan *plan, const Node *node)
{
    const Function *f = &functions[node->attr.fn];
    const double each = node->op == OP_unary ? f->flops : f->flops_grad;
    return (OpCost){.flops = each * (double)plan_elements(plan_in(plan, node, 0))};
}

static void grad(Builder *b, const Node *node)
{
    const int y = plan_out_id(b->plan, node, 0), x = plan_in_id(b->plan, node, 0);
    const Function *f = &functions[node->attr.fn];
    op_rule_grad_input(
        b, node, OP_unary_grad, node->attr,
        IDS(builder_grad(b, y), f->needs_x ? x : PLAN_NONE, f->needs_y ? y : PLAN_NONE));
}

/* The argument of GELU's tanh, and its slope. */
static double gelu_inner(double x)
{
    return sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
}

static double gelu_inner_slope(double x)
{
    return sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
}

static double normal_distribution(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
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
    case FN_GELU_TANH:
        return 0.5 * x * (1 + tanh(gelu_inner(x)));
    case FN_GELU_ERF:
        return x * normal_distribution(x);
    default:
        return NAN;
    }
}

static double slope(const NodeAttr *attr, double x, double y)
{
    const double s = 1 / (1 + exp(-x)), t = tanh(gelu_inner(x));
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
    case FN_GELU_TANH:
        return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * gelu_inner_slope(x);
    case FN_GELU_ERF:
        return normal_distribution(x) + x * exp(-x * x / 2) / sqrt(2 * M_PI);
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
    OP_SOURCE,      .alias = {{0, 0}}, .n_aliases = 1,
    .check = check, .cost = cost,      .reference = reference_grad,
};
