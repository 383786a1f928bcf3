/* Rows of a table, chosen by token; with a table of positions also the row of the token's place in its
 * sequence, t = n mod T:
 *
 *     x[n] = table[ids[n]] + positions[t]
 *     dtable[v] = sum over n with ids[n] = v of dx[n]
 *     dpositions[t] = sum over the sequences of dx[n]
 *
 * embedding       x | table, ids, positions       positions: absent, or [P, C] and attr.tokens = T <= P
 * embedding_grad  dtable, dpositions | dx, ids    the whole of both tables is written, zeros included
 *                 dtable, dpositions | dx, ids, dtable    attr.accumulate: dtable += ...
 *
 * Under eager the positions stay with the op: the gradient of an addition of its own would be a window
 * of T rows, and nothing would clear the rows after it. */
#include "base/i64.h"
#include "ops/element.h"
#include "ops/op_check.h"

enum { IN_POSITIONS = 2, OUT_DPOSITIONS = 1, IN_DTABLE = 2 };

static Status check_positions(const Node *node, const Tensor *x, const Tensor *positions)
{
    const int64_t T = node->attr.tokens, P = positions ? plan_rows(positions) : T;
    if (!positions) return ST_OK;
    if (T > 0 && P >= T && plan_rows(x) % T == 0 && plan_width(positions) == plan_width(x))
        return ST_OK;
    return FAIL(ST_FAILED, "%s (%s): %lld rows of %lld tokens do not fit %lld positions",
                plan_op_name(node->op), node->scope, (long long)plan_rows(x), (long long)T,
                (long long)P);
}

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 2));
    const Tensor *out = plan_out(plan, node, 0), *in = plan_in(plan, node, 0);
    const Tensor *ids = plan_in(plan, node, 1);
    const bool gradient = node->op == OP_embedding_grad;
    const int64_t width = plan_width(gradient ? out : in); /* of the table */
    TRY(op_check_dtype(node, "ids", ids, DT_I32));
    TRY(op_check_elements(node, "x", gradient ? in : out, plan_elements(ids) * width));
    if (!gradient) return check_positions(node, out, plan_in(plan, node, IN_POSITIONS));
    const int sum = node->attr.accumulate ? plan_out_id(plan, node, 0) : PLAN_NONE;
    if (plan_in_id(plan, node, IN_DTABLE) != sum)
        return FAIL(ST_FAILED, "embedding_grad (%s): input 2 is what accumulates", node->scope);
    return check_positions(node, in, plan_out(plan, node, OUT_DPOSITIONS));
}

static double bytes_of(const Tensor *t)
{
    return t ? (double)plan_bytes(t) : 0;
}

static OpCost cost(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_out(plan, node, 0), *positions = plan_in(plan, node, IN_POSITIONS);
    OpCost cost = op_rule_cost_gathered(plan, node);
    if (!positions) return cost;
    cost.flops = (double)plan_elements(x);
    cost.bytes +=
        (double)(node->attr.tokens * plan_width(x)) * (double)plan_dtype_size(positions->dtype);
    return cost;
}

/* Accumulating, a row is read and written for each token, as if they were all of different words. */
static OpCost cost_grad(const Plan *plan, const Node *node)
{
    const Tensor *dtable = plan_out(plan, node, 0), *dx = plan_in(plan, node, 0);
    const Tensor *dpositions = plan_out(plan, node, OUT_DPOSITIONS);
    const double rows = (double)i64_min(plan_rows(dx), plan_rows(dtable));
    const double row = bytes_of(dtable) / (double)plan_rows(dtable);
    return (OpCost){.flops = (double)plan_elements(dx) * (dpositions ? 2 : 1),
                    .bytes = bytes_of(dx) + bytes_of(plan_in(plan, node, 1)) +
                             bytes_of(dpositions) +
                             (node->attr.accumulate ? 2 * rows * row : bytes_of(dtable))};
}

/* A table whose gradient has begun elsewhere (a head that multiplies with it) is added to in place. */
static void grad(Builder *b, const Node *node)
{
    const int dx = builder_grad(b, plan_out_id(b->plan, node, 0));
    const int table = plan_in_id(b->plan, node, 0), ids = plan_in_id(b->plan, node, 1);
    const int positions = plan_in_id(b->plan, node, IN_POSITIONS);
    const bool placed = builder_wants_grad(b, positions);
    if (!builder_wants_grad(b, table) && !placed) return;
    const int begun = builder_grad_begun(b, table);
    const int dtable = begun == PLAN_NONE ? builder_grad_target(b, table) : begun;
    const int dpositions = placed ? builder_grad_target(b, positions) : PLAN_NONE;
    const int out[] = {dtable, dpositions}, in[] = {dx, ids, begun};
    *builder_node(b, OP_embedding_grad, out, placed ? 2 : 1, in, begun == PLAN_NONE ? 2 : 3) =
        (NodeAttr){.tokens = placed ? node->attr.tokens : 0, .accumulate = begun != PLAN_NONE};
    if (builder_wants_grad(b, table)) builder_grad_add(b, table, dtable);
    if (placed) builder_grad_add(b, positions, dpositions);
}

static Status reference(const OpCall *call)
{
    const Operand x = element_out(call, 0), table = element_in(call, 0);
    const Operand positions = element_in(call, IN_POSITIONS);
    const int32_t *ids = op_in(call, 1);
    for (int64_t i = 0; i < x.rows; i++) {
        const int64_t t = positions.data ? i % call->node->attr.tokens : 0;
        for (int64_t j = 0; j < x.cols; j++) {
            const double v = at(table, ids[i], j);
            put(x, i, j, positions.data ? v + at(positions, t, j) : v);
        }
    }
    return ST_OK;
}

static bool has_word(const int32_t *ids, int64_t n, int64_t v)
{
    for (int64_t i = 0; i < n; i++) {
        if (ids[i] == v) return true;
    }
    return false;
}

static void reference_dpositions(Operand dpositions, Operand dx, int64_t T)
{
    for (int64_t t = 0; t < dpositions.rows; t++) {
        for (int64_t j = 0; j < dpositions.cols; j++) {
            double sum = 0;
            for (int64_t i = t; t < T && i < dx.rows; i += T) sum += at(dx, i, j);
            put(dpositions, t, j, sum);
        }
    }
}

/* Sums in double: one pass over the tokens for each element of the table whose word is among them. */
static Status reference_grad(const OpCall *call)
{
    const Operand dtable = element_out(call, 0), dx = element_in(call, 0);
    const int32_t *ids = op_in(call, 1);
    const bool accumulate = call->node->attr.accumulate;
    for (int64_t v = 0; v < dtable.rows; v++) {
        const int64_t tokens = has_word(ids, dx.rows, v) ? dx.rows : 0;
        for (int64_t j = 0; j < dtable.cols; j++) {
            double sum = accumulate ? at(dtable, v, j) : 0;
            for (int64_t i = 0; i < tokens; i++) sum += ids[i] == v ? at(dx, i, j) : 0;
            put(dtable, v, j, sum);
        }
    }
    if (op_out(call, OUT_DPOSITIONS))
        reference_dpositions(element_out(call, OUT_DPOSITIONS), dx, call->node->attr.tokens);
    return ST_OK;
}

const OpDef embedding_def = {
    OP_SOURCE, .check = check, .cost = cost, .grad = grad, .reference = reference,
};

const OpDef embedding_grad_def = {OP_SOURCE, .check = check, .cost = cost_grad,
                                  .reference = reference_grad};
