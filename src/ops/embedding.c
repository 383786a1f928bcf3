/* Rows of a table, chosen by token:
 *
 *     x[n] = table[ids[n]]            dtable[v] = sum over n with ids[n] = v of dx[n]
 *
 * embedding       x | table, ids
 * embedding_grad  dtable | dx, ids        the whole table is written, zeros included */
#include "ops/element.h"
#include "ops/op_check.h"

static Status check_rows(const Node *node, const Tensor *x, const Tensor *table, const Tensor *ids)
{
    TRY(op_check_dtype(node, "ids", ids, DT_I32));
    return op_check_elements(node, "x", x, plan_elements(ids) * plan_width(table));
}

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 2));
    TRY(op_check_contiguous(plan, node));
    return check_rows(node, plan_out(plan, node, 0), plan_in(plan, node, 0),
                      plan_in(plan, node, 1));
}

static Status check_grad(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 2));
    TRY(op_check_contiguous(plan, node));
    return check_rows(node, plan_in(plan, node, 0), plan_out(plan, node, 0),
                      plan_in(plan, node, 1));
}

/* Only the rows that are asked for are read. */
static OpCost cost(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_out(plan, node, 0), *table = plan_in(plan, node, 0);
    const double read = (double)plan_elements(x) * (double)plan_dtype_size(table->dtype);
    return (OpCost){.bytes =
                        read + (double)plan_bytes(x) + (double)plan_bytes(plan_in(plan, node, 1))};
}

static OpCost cost_grad(const Plan *plan, const Node *node)
{
    return (OpCost){.flops = (double)plan_elements(plan_in(plan, node, 0))};
}

static void grad(Builder *b, const Node *node)
{
    const int x = plan_out_id(b->plan, node, 0);
    const int table = plan_in_id(b->plan, node, 0), ids = plan_in_id(b->plan, node, 1);
    if (!builder_wants_grad(b, table)) return;
    const int dtable = builder_grad_target(b, table);
    builder_node(b, OP_embedding_grad, IDS(dtable), IDS(builder_grad(b, x), ids));
    builder_grad_add(b, table, dtable);
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
    OP_SOURCE, .check = check, .cost = cost, .grad = grad, .reference = reference,
};

const OpDef embedding_grad_def = {OP_SOURCE, .check = check_grad, .cost = cost_grad,
                                  .reference = reference_grad};
