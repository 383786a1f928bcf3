/* Where each token's rows are once those of the same expert stand together, in the order of the tokens
 * (experts.h):
 *
 * expert_rows  place, first | choice
 *
 * A counting sort: the same bits whatever the number of threads. */
#include "ops/element.h"
#include "ops/experts/experts.h"
#include "ops/op_check.h"

#include <string.h>

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 2, 1));
    const Tensor *place = plan_out(plan, node, 0), *first = plan_out(plan, node, 1);
    const Tensor *choice = plan_in(plan, node, 0);
    TRY(op_check_dtype(node, "choice", choice, DT_I32));
    TRY(op_check_dtype(node, "place", place, DT_I32));
    TRY(op_check_dtype(node, "first", first, DT_I32));
    if (plan_elements(choice) > INT32_MAX || plan_elements(first) > EXPERTS_MOST + 1)
        return FAIL(ST_UNSUPPORTED, "%s: %lld rows of %lld experts are too many", node->scope,
                    (long long)plan_elements(choice), (long long)plan_elements(first) - 1);
    return op_check_elements(node, "place", place, plan_elements(choice));
}

static Status reference(const OpCall *call)
{
    const int64_t n = plan_elements(op_in_shape(call, 0));
    const int64_t E = plan_elements(op_out_shape(call, 1)) - 1;
    const int32_t *choice = op_in(call, 0);
    int32_t *place = op_out(call, 0), *first = op_out(call, 1), next[EXPERTS_MOST];
    memset(first, 0, (size_t)(E + 1) * sizeof *first);
    for (int64_t i = 0; i < n; i++) first[choice[i] + 1]++;
    for (int64_t e = 0; e < E; e++) first[e + 1] += first[e];
    memcpy(next, first, (size_t)E * sizeof *next);
    for (int64_t i = 0; i < n; i++) place[i] = next[choice[i]]++;
    return ST_OK;
}

const OpDef expert_rows_def = {
    OP_SOURCE,
    .auxiliary = 1U | 1U << 1,
    .check = check,
    .reference = reference,
};
