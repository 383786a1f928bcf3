/* Functions of two numbers (attr.fn): + - * /
 *
 * binary  z | x, y
 *
 * z has the shape of x. y is as large as x, or repeats (ops/broadcasting.h): one number per row, or a
 * smaller tensor over and over (a weight, a table of angles). Dtypes are free. Operands of the
 * shape of x may be windows with gaps between rows; one that repeats has none. */
#include "ops/broadcasting.h"
#include "ops/elementwise.h"
#include "ops/op_check.h"
#include "plan/op_functions.h"

#include <math.h>

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 2));
    const Tensor *z = plan_out(plan, node, 0), *x = plan_in(plan, node, 0),
                 *y = plan_in(plan, node, 1);
    if (node->attr.fn < FN_ADD || node->attr.fn > FN_DIV) {
        return FAIL(ST_FAILED, "binary (%s): there is no function %d", node->scope, node->attr.fn);
    }
    TRY(op_check_elements(node, "z", z, plan_elements(x)));
    const Broadcasting how = broadcasting_of(x, y);
    if (how == BROADCAST_MISFIT) {
        return FAIL(ST_FAILED, "binary (%s): %lld elements of '%s' do not repeat over %lld of '%s'",
                    node->scope, (long long)plan_elements(y), y->name, (long long)plan_elements(x),
                    x->name);
    }
    if (how != BROADCAST_NONE && !plan_contiguous(y)) {
        return FAIL(ST_FAILED, "binary (%s): '%s' repeats and has gaps", node->scope, y->name);
    }
    if (how == BROADCAST_COLUMN && plan_width(z) != plan_width(x))
        return FAIL(ST_FAILED, "binary (%s): rows of '%s' and '%s' differ", node->scope, z->name,
                    x->name);
    const bool alike =
        plan_width(z) == plan_width(x) && (how != BROADCAST_NONE || plan_width(y) == plan_width(x));
    return alike ? ST_OK : op_check_contiguous(plan, node);
}

/* ---- gradients: dz flows to x as it is or with a factor, to y summed over its repetitions ---- */

/* d(x) += dz, with no copy where dz itself can serve. */
static void pass(Builder *b, int x, int dz)
{
    const bool alike = builder_dtype(b, x) == builder_dtype(b, dz);
    int dx = dz;
    if (builder_has_grad_buffer(b, x) || !alike) {
        dx = builder_grad_target(b, x);
        builder_node(b, OP_cast, IDS(dx), IDS(dz));
    }
    builder_grad_add(b, x, dx);
}

/* out (as large as y) = the sum of `from` (as large as x) over the repetitions of y. */
static void fold(Builder *b, Broadcasting how, int out, int from)
{
    if (!plan_contiguous(builder_at(b, from))) {
        const int whole = builder_like(b, "whole", from, builder_dtype(b, from));
        builder_node(b, OP_cast, IDS(whole), IDS(from));
        from = whole;
    }
    if (how == BROADCAST_COLUMN) {
        builder_node(b, OP_reduce, IDS(out), IDS(from))->fn = FN_ROW_SUM;
        return;
    }
    const int64_t period = plan_elements(builder_at(b, out));
    const int64_t times = plan_elements(builder_at(b, from)) / period;
    const int rows = builder_view(b, "periods", from, 0, DIMS(times, period), period);
    builder_node(b, OP_reduce, IDS(out), IDS(rows))->fn = FN_COL_SUM;
}

static void negate(Builder *b, int out, int from)
{
    *builder_node(b, OP_unary, IDS(out), IDS(from)) = (NodeAttr){.fn = FN_AFFINE, .scale = -1};
}

static void grad_x(Builder *b, int fn, int x, int y, int dz)
{
    if (fn == FN_ADD || fn == FN_SUB) {
        pass(b, x, dz);
        return;
    }
    const int dx = builder_grad_target(b, x);
    builder_node(b, OP_binary, IDS(dx), IDS(dz, y))->fn = fn; /* dz * y or dz / y */
    builder_grad_add(b, x, dx);
}

/* The sum over repetitions of dz (ADD, SUB), dz x (MUL) or dz z (DIV), as large as y. `target`
 * takes it where that is the gradient itself; otherwise it stays wide for the steps that follow. */
static int folded(Builder *b, Broadcasting how, int y, int dz, int factor, int target)
{
    const DType wide = op_full_dtype(builder_dtype(b, dz));
    int flow = dz;
    if (factor != PLAN_NONE) {
        const bool last = how == BROADCAST_NONE && target != PLAN_NONE;
        flow = last ? target : builder_like(b, "product", factor, wide);
        builder_node(b, OP_binary, IDS(flow), IDS(dz, factor))->fn = FN_MUL;
    }
    if (how == BROADCAST_NONE) return flow;
    const int sum = target != PLAN_NONE ? target : builder_like(b, "folded", y, wide);
    fold(b, how, sum, flow);
    return sum;
}

static void grad_y(Builder *b, int fn, Broadcasting how, int x, int y, int z, int dz)
{
    if (fn == FN_ADD && how == BROADCAST_NONE) {
        pass(b, y, dz);
        return;
    }
    const int dy = builder_grad_target(b, y);
    if (fn == FN_ADD) {
        folded(b, how, y, dz, PLAN_NONE, dy);
    } else if (fn == FN_MUL) {
        folded(b, how, y, dz, x, dy);
    } else if (fn == FN_SUB) {
        negate(b, dy, folded(b, how, y, dz, PLAN_NONE, PLAN_NONE));
    } else { /* d(x / y) / dy = -z / y */
        const int sum = folded(b, how, y, dz, z, PLAN_NONE);
        const int quotient = builder_like(b, "quotient", y, builder_dtype(b, sum));
        builder_node(b, OP_binary, IDS(quotient), IDS(sum, y))->fn = FN_DIV;
        negate(b, dy, quotient);
    }
    builder_grad_add(b, y, dy);
}

/* How many nodes run before this one, of which the caller has a copy: operands lie in their order. */
static int nodes_before(const Plan *plan, const Node *node)
{
    int low = 0, high = plan->n_nodes;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (plan->nodes[middle].first < node->first) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A row's maximum is only ever subtracted where it cancels: nothing flows back into it. */
static bool is_row_max(const Plan *plan, const Node *reader, int tensor)
{
    for (int i = nodes_before(plan, reader); i-- > 0;) {
        const Node *node = &plan->nodes[i];
        if (plan_out_id(plan, node, 0) == tensor) {
            return node->op == OP_reduce && node->attr.fn == FN_ROW_MAX;
        }
    }
    return false;
}

static void grad(Builder *b, const Node *node)
{
    const int z = plan_out_id(b->plan, node, 0), fn = node->attr.fn;
    const int x = plan_in_id(b->plan, node, 0), y = plan_in_id(b->plan, node, 1);
    const Broadcasting how = broadcasting_of(builder_at(b, x), builder_at(b, y));
    const int dz = builder_grad(b, z);
    if (builder_wants_grad(b, x)) grad_x(b, fn, x, y, dz);
    if (!builder_wants_grad(b, y) || (fn == FN_SUB && is_row_max(b->plan, node, y))) return;
    grad_y(b, fn, how, x, y, z, dz);
}

static double value(int fn, double x, double y)
{
    switch (fn) {
    case FN_ADD:
        return x + y;
    case FN_SUB:
        return x - y;
    case FN_MUL:
        return x * y;
    case FN_DIV:
        return x / y;
    default:
        return NAN;
    }
}

static Status reference(const OpCall *call)
{
    const Operand z = element_out(call, 0), x = element_in(call, 0), y = element_in(call, 1);
    const Broadcasting how = broadcasting_of(op_in_shape(call, 0), op_in_shape(call, 1));
    const int64_t n = x.rows * x.cols, period = y.rows * y.cols;
    for (int64_t i = 0; i < n; i++) {
        const double at_y = elementwise_get(y, broadcasting_index(how, i, x.cols, period));
        elementwise_put(z, i, value(call->node->attr.fn, elementwise_get(x, i), at_y));
    }
    return ST_OK;
}

const OpDef binary_def = {
    OP_SOURCE,     .alias = {{0, 0}}, .n_aliases = 1,         .check = check,
    .flops_in = 1, .grad = grad,      .reference = reference,
};
