/* The gate and its gradient (ops/swiglu.c), whose results leave as 8-bit floats (ops/fp8/quantize.c):
 *
 * swiglu_fp8       q, scale, qt, scale_t, amax of g | h, recent, amax
 * swiglu_fp8_grad  q, scale, qt, scale_t, amax of dh, and as many of g, or none
 *                  | dg, h, recent, amax of dh, and as many of g
 *
 * h is both halves, [N, 2F]. Results are rounded to h's dtype first: the same bits as those of two
 * nodes. Either pair may be absent, as in quantize. Scales come from `recent`, because what is largest is
 * known too late. */
#include "ops/fp8/quantize_place.h"
#include "ops/op_check.h"
#include "ops/swiglu.h"

#include <stdlib.h>

enum { FORWARD_H = 0, BACKWARD_DG = 0, BACKWARD_H = 1 };

static Status check_place(const Plan *plan, const Node *node, const QuantizePlace *place,
                          int64_t rows, int64_t cols)
{
    TRY(quantize_place_check(plan, node, place, rows, cols));
    if (plan_in(plan, node, place->recent)) return ST_OK;
    return FAIL(ST_FAILED, "%s: no sizes of earlier steps", node->scope);
}

static Status check(const Plan *plan, const Node *node)
{
    const Tensor *h = plan_in(plan, node, FORWARD_H);
    QuantizePlace place[QUANTIZE_PLACES];
    quantize_places(node, place);
    TRY(op_check_present(plan, node, 0, 1));
    TRY(op_check_contiguous(plan, node));
    return check_place(plan, node, place, plan_rows(h), plan_width(h) / 2);
}

static Status check_grad(const Plan *plan, const Node *node)
{
    const Tensor *dg = plan_in(plan, node, BACKWARD_DG), *h = plan_in(plan, node, BACKWARD_H);
    QuantizePlace place[QUANTIZE_PLACES];
    const int n = quantize_places(node, place);
    TRY(op_check_present(plan, node, 0, 2));
    TRY(op_check_contiguous(plan, node));
    if (plan_rows(h) != plan_rows(dg) || plan_width(h) != 2 * plan_width(dg))
        return FAIL(ST_FAILED, "%s: h is not twice as wide as dg", node->scope);
    TRY(check_place(plan, node, &place[0], plan_rows(h), plan_width(h)));
    return n == 1 ? ST_OK : check_place(plan, node, &place[1], plan_rows(h), plan_width(dg));
}

static OpCost cost(const Plan *plan, const Node *node)
{
    return (OpCost){.flops = 2.5 * (double)plan_elements(plan_in(plan, node, FORWARD_H))};
}

static OpCost cost_grad(const Plan *plan, const Node *node)
{
    QuantizePlace place[QUANTIZE_PLACES];
    const int again = quantize_places(node, place) - 1;
    return (OpCost){.flops =
                        (11 + 2 * again) * (double)plan_elements(plan_in(plan, node, BACKWARD_DG))};
}

/* Memory for a result that no other op reads. */
static Status take(Operand *x, Operand like, int64_t cols)
{
    *x = (Operand){NULL, like.dtype, like.rows, cols, cols};
    x->data = malloc((size_t)(x->rows * cols) * plan_dtype_size(x->dtype));
    return x->data ? ST_OK : NO_MEMORY("for the reference of a gate");
}

static Status reference(const OpCall *call)
{
    const Operand h = element_in(call, FORWARD_H);
    QuantizePlace place[QUANTIZE_PLACES];
    Operand g;
    quantize_places(call->node, place);
    TRY(take(&g, h, h.cols / 2));
    swiglu_reference(g, h, (Operand){0});
    quantize_place_reference(call, &place[0], g);
    free(g.data);
    return ST_OK;
}

static Status reference_grad(const OpCall *call)
{
    const Operand dg = element_in(call, BACKWARD_DG), h = element_in(call, BACKWARD_H);
    QuantizePlace place[QUANTIZE_PLACES];
    const int n = quantize_places(call->node, place);
    Operand dh, g = {0};
    Status status = take(&dh, h, h.cols);
    if (status == ST_OK) status = take(&g, dg, dg.cols);
    if (status == ST_OK) {
        swiglu_reference_grad(dh, (Operand){0}, g, dg, h, (Operand){0});
        quantize_place_reference(call, &place[0], dh);
        if (n == 2) quantize_place_reference(call, &place[1], g);
    }
    free(dh.data);
    free(g.data);
    return status;
}

#define PAIRS DTYPE_OPERAND, DTYPE_SCALE, DTYPE_OPERAND, DTYPE_SCALE

const OpDef swiglu_fp8_def = {OP_SOURCE, .check = check, .out_role = {PAIRS}, .cost = cost,
                              .reference = reference};

const OpDef swiglu_fp8_grad_def = {
    OP_SOURCE,
    .check = check_grad,
    .cost = cost_grad,
    .out_role = {PAIRS, DTYPE_STORAGE, PAIRS},
    .again = 0xfU << QUANTIZE_OUTS,
    .reference = reference_grad,
};
