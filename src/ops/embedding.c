/* Rows of a table, chosen by token:
 *
 *     x[n] = table[ids[n]]            dtable[v] = sum over n with ids[n] = v of dx[n]
 *
 * embedding       x | table, ids
 * embedding_grad  dtable | dx, ids        the whole table is written, zeros included */
#include "ops/element.h"
#include "ops/op_check.h"

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 2));
    const Tensor *out = plan_out(plan, node, 0), *in = plan_in(plan, node, 0);
    const Tensor *ids = plan_in(plan, node, 1);
    const bool gradient = node->op == OP_embedding_grad;
    const int64_t width = plan_width(gradient ? out : in); /* of the table */
    TRY(op_check_dtype(node, "ids", ids, DT_I32));
    return op_check_elements(node, "x", gradient ? in : out, plan_elements(ids) * width);
}

static void grad(Builder *b, const Node *node)
{
    const int dx = builder_grad(b, plan_out_id(b->plan, node, 0));
    const int table = plan_in_id(b->plan, node, 0), ids = plan_in_id(b->plan, node, 1);
    const DType dtype = builder_dtype(b, table), full = op_full_dtype(dtype);
    if (dtype == full) {
        op_rule_grad_input(b, node, OP_embedding_grad, (NodeAttr){0}, IDS(dx, ids));
        return;
    }
    /* A head that is tied to the table reads it in 16 bit. Sums are fp32 and rounded once. */
    const int sums = builder_like(b, "sums of d(table)", table, full);
    builder_node(b, OP_embedding_grad, IDS(sums), IDS(dx, ids));
    builder_grad_add(b, table, sums);
}

static Status reference(const OpCall *call)
{
    const Operand x = element_out(call, 0), table = element_in(call, 0);
    const int32_t *ids = op_in(call, 1);
    for (int64_t i = 0; i < x.rows; i++) {
        for (int64_t j = 0; j < x.cols; j++) put(x, i, j, at(table, ids[i], j));
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

/* Sums in double: one pass over the tokens for each element of the table whose word is among them. */
static Status reference_grad(const OpCall *call)
{
    const Operand dtable = element_out(call, 0), dx = element_in(call, 0);
    const int32_t *ids = op_in(call, 1);
    for (int64_t v = 0; v < dtable.rows; v++) {
        const int64_t tokens = has_word(ids, dx.rows, v) ? dx.rows : 0;
        for (int64_t j = 0; j < dtable.cols; j++) {
            double sum = 0;
            for (int64_t i = 0; i < tokens; i++) sum += ids[i] == v ? at(dx, i, j) : 0;
            put(dtable, v, j, sum);
        }
    }
    return ST_OK;
}

const OpDef embedding_def = {
    OP_SOURCE, .check = check, .cost = op_rule_cost_gathered, .grad = grad, .reference = reference,
};

const OpDef embedding_grad_def = {OP_SOURCE, .check = check, .flops_in = 1,
                                  .reference = reference_grad};
