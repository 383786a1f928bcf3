/* Gradient accumulation: the tokens and targets of the next of n micro-batches.
 *
 * micro_batch  tokens, targets, state | all_tokens, all_targets, state
 *
 * all_tokens and all_targets hold those of the n micro-batches of a step one after the other. Which one
 * comes next is in the step state (plan/step_state.h), so that one CUDA graph serves them all.
 * STATE_LOSS_SEED becomes the loss scale by n: the loss of a step is the mean of those of its
 * micro-batches. */
#include "ops/micro_batch.h"

#include "ops/op.h"
#include "ops/op_check.h"

#include <string.h>

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 3, 3));
    const int64_t own = plan_elements(plan_out(plan, node, 0));
    const int64_t all = plan_elements(plan_in(plan, node, 0));
    for (int i = 0; i < 2; i++) {
        TRY(op_check_dtype(node, "ids", plan_out(plan, node, i), DT_I32));
        TRY(op_check_dtype(node, "ids", plan_in(plan, node, i), DT_I32));
        TRY(op_check_elements(node, "ids of a micro-batch", plan_out(plan, node, i), own));
        TRY(op_check_elements(node, "ids of a step", plan_in(plan, node, i), all));
    }
    if (all % own != 0)
        return FAIL(ST_FAILED, "micro_batch (%s): %lld tokens are not whole micro-batches of %lld",
                    node->scope, (long long)all, (long long)own);
    return op_check_elements(node, "state", plan_out(plan, node, 2), STATE_COUNT);
}

/* Reads one micro-batch and writes it. */
static OpCost cost(const Plan *plan, const Node *node)
{
    return (OpCost){.bytes = 4 * (double)plan_bytes(plan_out(plan, node, 0))};
}

static Status reference(const OpCall *call)
{
    double *state = op_out(call, 2);
    const size_t bytes = plan_bytes(op_out_shape(call, 0));
    const double n =
        (double)plan_elements(op_in_shape(call, 0)) / (double)plan_elements(op_out_shape(call, 0));
    const double next = micro_batch_next(state, n);
    for (int i = 0; i < 2; i++)
        memcpy(op_out(call, i), (const char *)op_in(call, i) + (size_t)next * bytes, bytes);
    micro_batch_begin(state, next, n);
    return ST_OK;
}

const OpDef micro_batch_def = {OP_SOURCE, .check = check, .cost = cost, .reference = reference};
