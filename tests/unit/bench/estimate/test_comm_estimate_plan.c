/* Real plans: what their collectives take, by the sizes of their arrays. */
#include "bench/estimate/comm_estimate.h"
#include "exec/step_plan.h"
#include "step_harness.h"

enum { RANKS = 4 };
static const CommLink link = {.latency = 1e-5, .bandwidth = 1e9};

static Config ranked(Parallel parallel, int64_t accumulate)
{
    Config c = small_config();
    c.ranks = RANKS;
    c.parallel = parallel;
    c.accumulate = accumulate;
    c.bucket = 20000;
    return c;
}

/* Every node that computes takes `each`. */
static CommEstimate estimate_of(const Plan *plan, const Binding *binding, double each)
{
    CommLinks links = {0};
    CommEstimate out;
    double *seconds = malloc((size_t)plan->n_nodes * sizeof *seconds);
    assert_non_null(seconds);
    for (int i = 0; i < plan->n_nodes; i++) seconds[i] = each;
    comm_link_set_all(&links, link);
    const CommEstimateInput input = {plan, binding->waits, seconds, &links, 1};
    ASSERT_OK(comm_estimate_step(&input, &out));
    free(seconds);
    return out;
}

/* Rings of the arrays that all ranks have together, `gathers` times those that are gathered in forward or
 * backward. */
static double by_hand(const Plan *plan, int64_t gathers)
{
    double sum = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        if (node->phase == PHASE_SETUP) continue;
        const bool gather = node->op == OP_all_gather;
        const int whole = gather ? plan_out_id(plan, node, 0) : plan_in_id(plan, node, 0);
        const double bytes = (double)plan_bytes(&plan->tensors[whole]);
        const double ring = (RANKS - 1) * (link.latency + bytes / RANKS / link.bandwidth);
        if (gather) sum += (node->phase == PHASE_OPTIMIZER ? 1 : (double)gathers) * ring;
        if (node->op == OP_reduce_scatter) sum += ring;
        if (node->op == OP_all_reduce) sum += 2 * ring;
    }
    return sum;
}

static void check(Parallel parallel, int64_t accumulate)
{
    const Config c = ranked(parallel, accumulate);
    Model model;
    Binding binding;
    ASSERT_OK(step_plan_make(&model, &binding, &c, MODE_TRAIN, BACKEND_cpu, 0, 2));
    const double wanted = by_hand(&model.plan, accumulate);
    const CommEstimate idle = estimate_of(&model.plan, &binding, 0);
    const CommEstimate busy = estimate_of(&model.plan, &binding, 1);
    assert_true(wanted > 0);
    assert_true(fabs(idle.communication / wanted - 1) < 1e-9);
    assert_true(fabs(idle.step / wanted - 1) < 1e-9); /* without work nothing is hidden */
    assert_true(fabs(busy.communication / wanted - 1) < 1e-9);
    binding_free(&binding);
    model_free(&model);
}

static void every_strategy(void **state)
{
    (void)state;
    for (int p = 0; p < PARALLEL_COUNT; p++) check((Parallel)p, 1);
}

/* Gradients travel in the last of two micro-batches, parameters in both. */
static void micro_batches(void **state)
{
    (void)state;
    for (int p = 0; p < PARALLEL_COUNT; p++) check((Parallel)p, 2);
}

/* What is gathered or scattered beside long work is hidden. */
static void long_work_hides(void **state)
{
    (void)state;
    const Config c = ranked(PARALLEL_FSDP, 2);
    Model model;
    Binding binding;
    ASSERT_OK(step_plan_make(&model, &binding, &c, MODE_TRAIN, BACKEND_cpu, 0, 2));
    const CommEstimate e = estimate_of(&model.plan, &binding, 1);
    assert_true(e.exposed < 0.5 * e.communication);
    binding_free(&binding);
    model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_strategy),
        cmocka_unit_test(micro_batches),
        cmocka_unit_test(long_work_hides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
