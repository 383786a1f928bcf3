/* Sums, means and maxima (attr.fn) of a matrix of R rows and W columns:
 *
 * reduce  y | x        over each row: y [.., 1];  FN_COL_SUM over all rows: y [W]
 *
 * Rows of x may lie ld apart. Sums do not depend on the number of threads. The maximum has no
 * gradient: it is used only where it cancels (ops/binary.c). */
#include "ops/element.h"
#include "ops/op_check.h"
#include "plan/op_functions.h"

#include <math.h>

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 1));
    const Tensor *y = plan_out(plan, node, 0), *x = plan_in(plan, node, 0);
    TRY(op_check_whole(node, y));
    if (node->attr.fn < FN_ROW_SUM || node->attr.fn > FN_COL_SUM) {
        return FAIL(ST_FAILED, "reduce (%s): there is no function %d", node->scope, node->attr.fn);
    }
    return op_check_elements(node, "y", y,
                             node->attr.fn == FN_COL_SUM ? plan_width(x) : plan_rows(x));
}

static void grad(Builder *b, const Node *node)
{
    const int dy = builder_grad(b, plan_out_id(b->plan, node, 0)), fn = node->attr.fn;
    const double width = (double)plan_width(plan_in(b->plan, node, 0));
    if (fn == FN_ROW_MAX) return;
    op_rule_grad_input(b, node, OP_broadcast,
                       (NodeAttr){.scale = fn == FN_ROW_MEAN ? 1 / width : 1}, IDS(dy));
}

static double over_row(int fn, Operand x, int64_t row)
{
    double sum = 0, max = -INFINITY;
    for (int64_t j = 0; j < x.cols; j++) {
        sum += at(x, row, j);
        max = fmax(max, at(x, row, j));
    }
    if (fn == FN_ROW_MAX) return max;
    return fn == FN_ROW_MEAN ? sum / (double)x.cols : sum;
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const int fn = call->node->attr.fn;
    if (fn != FN_COL_SUM) {
        for (int64_t i = 0; i < x.rows; i++) element_set(y.data, y.dtype, i, over_row(fn, x, i));
        return ST_OK;
    }
    for (int64_t j = 0; j < x.cols; j++) {
        double sum = 0;
        for (int64_t i = 0; i < x.rows; i++) sum += at(x, i, j);
        element_set(y.data, y.dtype, j, sum);
    }
    return ST_OK;
}

const OpDef reduce_def = {
    OP_SOURCE, .check = check, .flops_in = 1, .grad = grad, .reference = reference,
};
