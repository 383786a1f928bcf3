/* Mean cross-entropy of N rows of V logits:
 *
 *     lse[n] = log(sum over v of exp(logits[n, v]))
 *     loss = mean over n of lse[n] - logits[n, target[n]]
 *     dlogits[n, v] = dloss / N (exp(logits[n, v] - lse[n]) - [v = target[n]])
 *
 * cross_entropy       loss, lse | logits, targets        lse is absent where no gradient follows
 * cross_entropy_grad  dlogits | dloss, logits, targets, lse
 *
 * With attr.tokens the rows are a chunk of that many: N is attr.tokens, and the losses of all chunks
 * add up to the mean.
 *
 * logits and dlogits may be 16 bit, their rows ld apart; loss, lse and all sums are fp32. dloss is
 * one element of any dtype: the loss scale comes as float64. */
#include "ops/cross_entropy.h"

#include "ops/element.h"
#include "ops/op_check.h"
#include "plan/op_functions.h"

#include <math.h>

static Status check_rows(const Node *node, const Tensor *logits, const Tensor *targets,
                         const Tensor *lse)
{
    TRY(op_check_dtype(node, "targets", targets, DT_I32));
    TRY(op_check_elements(node, "targets", targets, plan_rows(logits)));
    TRY(op_check_whole(node, targets));
    TRY(op_check_whole(node, lse));
    return lse ? op_check_elements(node, "lse", lse, plan_rows(logits)) : ST_OK;
}

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 2));
    TRY(check_rows(node, plan_in(plan, node, 0), plan_in(plan, node, 1), plan_out(plan, node, 1)));
    return op_check_elements(node, "loss", plan_out(plan, node, 0), 1);
}

static Status check_grad(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 4));
    const Tensor *logits = plan_in(plan, node, 1);
    TRY(op_check_elements(node, "dloss", plan_in(plan, node, 0), 1));
    TRY(check_rows(node, logits, plan_in(plan, node, 2), plan_in(plan, node, 3)));
    const Tensor *dlogits = plan_out(plan, node, 0);
    TRY(op_check_elements(node, "dlogits", dlogits, plan_elements(logits)));
    if (plan_width(dlogits) == plan_width(logits)) return ST_OK;
    return FAIL(ST_FAILED, "cross_entropy_grad (%s): dlogits has rows of %lld, not %lld",
                node->scope, (long long)plan_width(dlogits), (long long)plan_width(logits));
}

static void grad(Builder *b, const Node *node)
{
    const int loss = plan_out_id(b->plan, node, 0), lse = plan_out_id(b->plan, node, 1);
    const int logits = plan_in_id(b->plan, node, 0), targets = plan_in_id(b->plan, node, 1);
    op_rule_grad_input(b, node, OP_cross_entropy_grad, node->attr,
                       IDS(builder_grad(b, loss), logits, targets, lse));
}

/* loss is the mean of nll, or its sum over attr.tokens. */
static void decompose_mean(Builder *b, const Node *node, int loss, int nll)
{
    const int64_t N = plan_elements(builder_at(b, nll));
    const int row = builder_view(b, "nll row", nll, 0, DIMS(1, N), N);
    if (node->attr.tokens == 0) {
        builder_node(b, OP_reduce, IDS(loss), IDS(row))->fn = FN_ROW_MEAN;
        return;
    }
    const int sum = builder_like(b, "nll sum", loss, builder_dtype(b, loss));
    builder_node(b, OP_reduce, IDS(sum), IDS(row))->fn = FN_ROW_SUM;
    NodeAttr *attr = builder_node(b, OP_unary, IDS(loss), IDS(sum));
    attr->fn = FN_AFFINE;
    attr->scale = 1 / (double)node->attr.tokens;
}

static void decompose(Builder *b, const Node *node)
{
    const int loss = plan_out_id(b->plan, node, 0), lse = plan_out_id(b->plan, node, 1);
    const int logits = plan_in_id(b->plan, node, 0), targets = plan_in_id(b->plan, node, 1);
    const DType wide = builder_dtype(b, loss);
    const int64_t N = plan_rows(builder_at(b, logits));

    const int max = builder_tensor(b, "max", TK_ACTIVATION, wide, DIMS(N, 1));
    const int shifted = builder_like(b, "logits-max", logits, wide);
    const int powers = builder_like(b, "exp", logits, wide);
    const int sum = builder_like(b, "sum", max, wide), log_sum = builder_like(b, "log", max, wide);
    const int picked = builder_like(b, "gathered", max, wide),
              nll = builder_like(b, "nll", max, wide);
    builder_node(b, OP_reduce, IDS(max), IDS(logits))->fn = FN_ROW_MAX;
    builder_node(b, OP_binary, IDS(shifted), IDS(logits, max))->fn = FN_SUB;
    builder_node(b, OP_unary, IDS(powers), IDS(shifted))->fn = FN_EXP;
    builder_node(b, OP_reduce, IDS(sum), IDS(powers))->fn = FN_ROW_SUM;
    builder_node(b, OP_unary, IDS(log_sum), IDS(sum))->fn = FN_LOG;
    if (lse != PLAN_NONE) builder_node(b, OP_binary, IDS(lse), IDS(log_sum, max))->fn = FN_ADD;
    builder_node(b, OP_gather, IDS(picked), IDS(shifted, targets));
    builder_node(b, OP_binary, IDS(nll), IDS(log_sum, picked))->fn = FN_SUB;
    decompose_mean(b, node, loss, nll);
}

static double log_sum_exp(Operand x, int64_t row)
{
    double max = at(x, row, 0), sum = 0;
    for (int64_t j = 1; j < x.cols; j++) max = fmax(max, at(x, row, j));
    for (int64_t j = 0; j < x.cols; j++) sum += exp(at(x, row, j) - max);
    return max + log(sum);
}

static Status reference(const OpCall *call)
{
    const Operand loss = element_out(call, 0), lse = element_out(call, 1);
    const Operand logits = element_in(call, 0);
    const int32_t *targets = op_in(call, 1);
    double sum = 0;
    for (int64_t i = 0; i < logits.rows; i++) {
        const double l = log_sum_exp(logits, i);
        if (lse.data) element_set(lse.data, lse.dtype, i, l);
        sum += l - at(logits, i, targets[i]);
    }
    put(loss, 0, 0, sum / (double)cross_entropy_mean_rows(call, op_in_shape(call, 0)));
    return ST_OK;
}

static Status reference_grad(const OpCall *call)
{
    const Operand dlogits = element_out(call, 0), dloss = element_in(call, 0);
    const Operand logits = element_in(call, 1), lse = element_in(call, 3);
    const int32_t *targets = op_in(call, 2);
    const double rows = (double)cross_entropy_mean_rows(call, op_in_shape(call, 1));
    const double factor = at(dloss, 0, 0) / rows;
    for (int64_t i = 0; i < logits.rows; i++) {
        const double l = element_get(lse.data, lse.dtype, i);
        for (int64_t j = 0; j < logits.cols; j++) {
            const double p = exp(at(logits, i, j) - l);
            put(dlogits, i, j, factor * (p - (j == targets[i])));
        }
    }
    return ST_OK;
}

const OpDef cross_entropy_def = {
    OP_SOURCE,    .auxiliary = 1U << 1,   .check = check,         .flops_in = 4,
    .grad = grad, .decompose = decompose, .reference = reference,
};

/* In place: logits are 40 MB per thousand tokens and nothing reads them afterwards. */
const OpDef cross_entropy_grad_def = {
    OP_SOURCE,           .alias = {{0, 1}}, .n_aliases = 1,
    .check = check_grad, .flops_out = 3,    .reference = reference_grad,
};
