/* The gate of the feed-forward part:
 *
 *     g = silu(h1) * h3            silu(x) = x s,  s = 1 / (1 + exp(-x))
 *     dh1 = dg h3 s (1 + h1 (1 - s))            dh3 = dg h1 s
 *
 * swiglu       g | h              h [N, 2F]: h1 and h3 beside each other in each row
 *              g | h1, h3         each [N, F]
 * swiglu_grad  dh, -, g | dg, h   or   dh1, dh3, g | dg, h1, h3
 *              g is optional: the forward pass's once more, where that is not kept
 *
 * Computed in fp32; only results are rounded. */
#include "ops/swiglu.h"

#include "ops/op_check.h"
#include "plan/op_functions.h"

#include <math.h>

/* Of h1 and h3 the second: an operand of its own, or that which follows the F columns of h1. */
static Operand second(Operand h1, Operand h3, int64_t F)
{
    if (h3.data) return h3;
    h1.data = (char *)h1.data + F * (int64_t)plan_dtype_size(h1.dtype);
    return h1;
}

static Status check_halves(const Plan *plan, const Node *node, const Tensor *g, int first)
{
    const Tensor *h1 = plan_in(plan, node, first), *h3 = plan_in(plan, node, first + 1);
    TRY(op_check_contiguous(plan, node));
    TRY(op_check_elements(node, h3 ? "h1" : "h", h1, (h3 ? 1 : 2) * plan_elements(g)));
    if (h3) return op_check_elements(node, "h3", h3, plan_elements(g));
    if (plan_width(h1) == 2 * plan_width(g)) return ST_OK;
    return FAIL(ST_FAILED, "swiglu (%s): rows of h are %lld wide, of g %lld", node->scope,
                (long long)plan_width(h1), (long long)plan_width(g));
}

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 1));
    return check_halves(plan, node, plan_out(plan, node, 0), 0);
}

static Status check_grad(const Plan *plan, const Node *node)
{
    const bool packed = !plan_in(plan, node, 2);
    TRY(op_check_present(plan, node, packed ? 1 : 2, packed ? 2 : 3));
    TRY(check_halves(plan, node, plan_in(plan, node, 0), 1));
    TRY(op_check_elements(node, "dh1", plan_out(plan, node, 0),
                          plan_elements(plan_in(plan, node, 1))));
    const Tensor *g = plan_out(plan, node, SWIGLU_GRAD_G);
    if (g) TRY(op_check_elements(node, "g", g, plan_elements(plan_in(plan, node, 0))));
    if (packed) return ST_OK;
    return op_check_elements(node, "dh3", plan_out(plan, node, 1),
                             plan_elements(plan_in(plan, node, 2)));
}

static void grad(Builder *b, const Node *node)
{
    const int dg = builder_grad(b, plan_out_id(b->plan, node, 0));
    const int h1 = plan_in_id(b->plan, node, 0), h3 = plan_in_id(b->plan, node, 1);
    const int dh1 = builder_grad_target(b, h1);
    const int dh3 = h3 == PLAN_NONE ? PLAN_NONE : builder_grad_target(b, h3);
    builder_node(b, OP_swiglu_grad, IDS(dh1, dh3, PLAN_NONE), IDS(dg, h1, h3));
    builder_grad_add(b, h1, dh1);
    if (h3 != PLAN_NONE) builder_grad_add(b, h3, dh3);
}

static void decompose(Builder *b, const Node *node)
{
    const int g = plan_out_id(b->plan, node, 0);
    int h1 = plan_in_id(b->plan, node, 0), h3 = plan_in_id(b->plan, node, 1);
    if (h3 == PLAN_NONE) {
        const int h = h1;
        const int64_t N = plan_rows(builder_at(b, h)), F = plan_width(builder_at(b, g));
        h1 = builder_view(b, "h1", h, 0, DIMS(N, F), 2 * F);
        h3 = builder_view(b, "h3", h, F, DIMS(N, F), 2 * F);
    }
    const int gate = builder_like(b, "silu", g, builder_dtype(b, g));
    builder_node(b, OP_unary, IDS(gate), IDS(h1))->fn = FN_SILU;
    builder_node(b, OP_binary, IDS(g), IDS(gate, h3))->fn = FN_MUL;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

void swiglu_reference(Operand g, Operand h1, Operand h3)
{
    h3 = second(h1, h3, g.cols);
    for (int64_t i = 0; i < g.rows; i++) {
        for (int64_t j = 0; j < g.cols; j++) {
            const double x = at(h1, i, j);
            put(g, i, j, x * sigmoid(x) * at(h3, i, j));
        }
    }
}

void swiglu_reference_grad(Operand dh1, Operand dh3, Operand g, Operand dg, Operand h1, Operand h3)
{
    h3 = second(h1, h3, dg.cols);
    dh3 = second(dh1, dh3, dg.cols);
    for (int64_t i = 0; i < dg.rows; i++) {
        for (int64_t j = 0; j < dg.cols; j++) {
            const double x = at(h1, i, j), v = at(h3, i, j), d = at(dg, i, j), s = sigmoid(x);
            put(dh1, i, j, d * v * s * (1 + x * (1 - s)));
            put(dh3, i, j, d * x * s);
            if (g.data) put(g, i, j, x * s * v);
        }
    }
}

static Status reference(const OpCall *call)
{
    swiglu_reference(element_out(call, 0), element_in(call, 0), element_in(call, 1));
    return ST_OK;
}

static Status reference_grad(const OpCall *call)
{
    swiglu_reference_grad(element_out(call, 0), element_out(call, 1),
                          element_out(call, SWIGLU_GRAD_G), element_in(call, 0),
                          element_in(call, 1), element_in(call, 2));
    return ST_OK;
}

const OpDef swiglu_def = {
    OP_SOURCE,    .check = check,         .flops_out = 5,
    .grad = grad, .decompose = decompose, .reference = reference,
};

/* g is two products more. */
static OpCost cost_grad(const Plan *plan, const Node *node)
{
    const Tensor *g = plan_out(plan, node, SWIGLU_GRAD_G);
    return (OpCost){.flops = g ? 2 * (double)plan_elements(g) : 0};
}

/* In place: h1[i], h3[i] and dg[i] are read before anything is written there. */
const OpDef swiglu_grad_def = {
    OP_SOURCE,         .alias = {{0, 1}, {1, 2}, {SWIGLU_GRAD_G, 0}},
    .n_aliases = 3,    .check = check_grad,
    .flops_in = 11,    .again = 1U << SWIGLU_GRAD_G,
    .cost = cost_grad, .reference = reference_grad,
};
