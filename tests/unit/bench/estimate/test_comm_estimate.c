/* Two queues by hand: what is hidden, what is exposed, and what collectives take. */
#include "bench/estimate/comm_estimate.h"
#include "with_cmocka.h"

#include <math.h>
#include <string.h>

enum { ELEMENTS = 1 << 20, MOST = 8 };
static const double bytes = 4.0 * ELEMENTS;

/* A link on which an all_reduce of one array over two ranks takes `seconds`: 2 messages of half of it. */
static CommLinks links_of(double seconds)
{
    CommLinks links = {0};
    comm_link_set_all(&links, (CommLink){.latency = 0, .bandwidth = bytes / seconds});
    return links;
}

static Plan plan;
static int waits[MOST];
static double seconds[MOST];

static int tensor(void)
{
    const Tensor t = {.name = "x",
                      .kind = TK_GRAD,
                      .dtype = DT_F32,
                      .n_dims = 1,
                      .dim = {ELEMENTS},
                      .ld = ELEMENTS,
                      .base = PLAN_NONE,
                      .upper = PLAN_NONE};
    int id = PLAN_NONE;
    assert_int_equal(plan_add_tensor(&plan, &t, &id), ST_OK);
    return id;
}

static void compute(Phase phase, double time, int waits_for)
{
    const Node node = {.op = OP_unary, .phase = phase, .layer = PLAN_NONE};
    const int x = tensor();
    seconds[plan.n_nodes] = time;
    waits[plan.n_nodes] = waits_for;
    assert_int_equal(plan_add_node(&plan, &node, &x, 1, &x, 1), ST_OK);
}

static void all_reduce(Queue queue, int waits_for)
{
    const Node node = {
        .op = OP_all_reduce, .phase = PHASE_BACKWARD, .layer = PLAN_NONE, .queue = queue};
    const int x = tensor();
    seconds[plan.n_nodes] = 1e9; /* not used */
    waits[plan.n_nodes] = waits_for;
    assert_int_equal(plan_add_node(&plan, &node, &x, 1, &x, 1), ST_OK);
}

static CommEstimate estimate_beside(const CommLinks *links, double beside)
{
    const CommEstimateInput input = {&plan, waits, seconds, links, beside};
    CommEstimate out;
    assert_int_equal(comm_estimate_step(&input, &out), ST_OK);
    assert_true(fabs(out.step - out.compute - out.exposed) < 1e-9);
    return out;
}

static CommEstimate estimate(const CommLinks *links)
{
    return estimate_beside(links, 1);
}

static void assert_about(double x, double wanted)
{
    if (!(fabs(x - wanted) < 1e-9)) fail_msg("%.12g, not %.12g", x, wanted);
}

static int start(void **state)
{
    (void)state;
    plan = (Plan){.ranks = 2};
    return 0;
}

static int end(void **state)
{
    (void)state;
    plan_free(&plan);
    return 0;
}

/* forward 1, backward 2, all_reduce beside backward 4, optimizer 1 that waits for it. */
static void overlapping(double backward)
{
    compute(PHASE_FORWARD, 1, PLAN_NONE);
    compute(PHASE_BACKWARD, 2, PLAN_NONE);
    all_reduce(QUEUE_COMMUNICATION, 1);
    compute(PHASE_BACKWARD, backward, PLAN_NONE);
    compute(PHASE_OPTIMIZER, 1, 2);
}

static void all_hidden(void **state)
{
    (void)state;
    const CommLinks links = links_of(4);
    overlapping(5);
    const CommEstimate e = estimate(&links);
    assert_about(e.compute, 9);
    assert_about(e.communication, 4);
    assert_about(e.step, 9);
    assert_about(e.exposed, 0);
}

static void partly_hidden(void **state)
{
    (void)state;
    const CommLinks links = links_of(4);
    overlapping(1.5);
    const CommEstimate e = estimate(&links);
    assert_about(e.step, 8); /* 1 + 2, 4 of communication with 1.5 of backward beside it, 1 */
    assert_about(e.exposed, 2.5);
}

static void none_hidden(void **state)
{
    (void)state;
    const CommLinks links = links_of(4);
    compute(PHASE_BACKWARD, 2, PLAN_NONE);
    all_reduce(QUEUE_COMPUTE, PLAN_NONE);
    all_reduce(QUEUE_COMPUTE, PLAN_NONE);
    compute(PHASE_OPTIMIZER, 1, PLAN_NONE);
    const CommEstimate e = estimate(&links);
    assert_about(e.communication, 8);
    assert_about(e.exposed, 8);
    assert_about(e.step, 11);
}

/* Nobody waits for the last one, and the step ends with it all the same. */
static void step_ends_with_both_queues(void **state)
{
    (void)state;
    const CommLinks links = links_of(4);
    compute(PHASE_BACKWARD, 1, PLAN_NONE);
    all_reduce(QUEUE_COMMUNICATION, 0);
    compute(PHASE_BACKWARD, 1, PLAN_NONE);
    assert_about(estimate(&links).step, 5);
}

/* Its operands are made by nodes before it, on whichever device: waits[] says nothing of that. */
static void collective_begins_in_its_turn(void **state)
{
    (void)state;
    const CommLinks links = links_of(4);
    compute(PHASE_BACKWARD, 3, PLAN_NONE);
    all_reduce(QUEUE_COMMUNICATION, PLAN_NONE);
    compute(PHASE_OPTIMIZER, 1, 1);
    assert_about(estimate(&links).step, 8);
}

/* Where a collective takes cores from the work beside it, that is part of what is exposed. */
static void cores_are_shared(void **state)
{
    (void)state;
    const CommLinks links = links_of(4);
    overlapping(5);
    /* 3, then 4 s at three quarters of the rate do 3 of the 5 s, then 2, then 1 */
    assert_about(estimate_beside(&links, 0.75).step, 10);
    assert_about(estimate_beside(&links, 0.75).exposed, 1);
    /* one core: nothing is hidden */
    assert_about(estimate_beside(&links, 0).exposed, 4);
}

/* It ends beside the collective. */
static void short_work_beside(void **state)
{
    (void)state;
    const CommLinks links = links_of(4);
    overlapping(1.5);
    assert_about(estimate_beside(&links, 0.75).step, 8);   /* 1.5 takes 2 of the 4 */
    assert_about(estimate_beside(&links, 0.25).step, 8.5); /* 4 s do 1, then 0.5 */
}

/* Of three micro-batches the last one communicates, with the whole gradient. */
static void last_micro_batch_communicates(void **state)
{
    (void)state;
    const CommLinks links = links_of(4);
    plan.micro_batches = 3;
    compute(PHASE_FORWARD, 1, PLAN_NONE);
    compute(PHASE_BACKWARD, 2, PLAN_NONE);
    all_reduce(QUEUE_COMMUNICATION, 1);
    compute(PHASE_OPTIMIZER, 1, 2);
    const CommEstimate e = estimate(&links);
    assert_about(e.compute, 10);
    assert_about(e.communication, 4);
    assert_about(e.step, 14);
}

static void one_rank_sends_nothing(void **state)
{
    (void)state;
    const CommLinks links = {0};
    plan.ranks = 1;
    overlapping(1);
    const CommEstimate e = estimate(&links);
    assert_about(e.communication, 0);
    assert_about(e.exposed, 0);
    assert_about(e.step, 5);
    assert_about(comm_estimate_compute(&plan, seconds), 5);
}

static void says_what_is_missing(void **state)
{
    (void)state;
    CommLinks links = links_of(1);
    CommEstimateInput input = {&plan, waits, seconds, &links, 1};
    CommEstimate out;
    all_reduce(QUEUE_COMPUTE, PLAN_NONE);
    plan.ranks = 6;
    links.ranks_per_node = 4;
    assert_int_equal(comm_estimate_step(&input, &out), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "no whole nodes of 4"));
    plan.ranks = 8;
    assert_int_equal(comm_estimate_step(&input, &out), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "--node-link"));
    links.between = (CommLink){1e-5, 1e9};
    assert_int_equal(comm_estimate_step(&input, &out), ST_OK);
    links.link[0][COLLECTIVE_ALL_GATHER].bandwidth = 0;
    links.link[1][COLLECTIVE_ALL_GATHER].bandwidth = 0;
    assert_int_equal(comm_estimate_step(&input, &out), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "--link"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(all_hidden),
                                       TEST(partly_hidden),
                                       TEST(none_hidden),
                                       TEST(step_ends_with_both_queues),
                                       TEST(collective_begins_in_its_turn),
                                       TEST(last_micro_batch_communicates),
                                       TEST(cores_are_shared),
                                       TEST(short_work_beside),
                                       TEST(one_rank_sends_nothing),
                                       TEST(says_what_is_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
