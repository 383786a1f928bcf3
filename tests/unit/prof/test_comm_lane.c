/* How much of a collective other nodes hide, and what waited for it. */
#include "plan/builder.h"
#include "prof/comm_lane.h"
#include "with_cmocka.h"

enum { COMPUTE, SENT, LATER, INLINE };

/* Two ops, a collective of the communication queue between them, and one of the compute queue. */
static void fill_plan(Plan *plan)
{
    Builder b;
    *plan = (Plan){.ranks = 2};
    builder_init(&b, plan);
    const int x = builder_tensor(&b, "x", TK_INPUT, DT_F32, DIMS(2, 3));
    b.phase = PHASE_BACKWARD;
    for (int i = COMPUTE; i <= INLINE; i++) {
        builder_scope(&b, PLAN_NONE, "somewhere");
        if (i == SENT || i == INLINE)
            builder_node(&b, OP_all_reduce, IDS(x), IDS(x));
        else
            builder_node(&b, OP_unary, IDS(builder_like(&b, "y", x, DT_F32)), IDS(x));
    }
    assert_int_equal(b.status, ST_OK);
    plan->nodes[SENT].queue = QUEUE_COMMUNICATION;
    builder_free(&b);
}

static void test_overlap(void **state)
{
    (void)state;
    CommSpan list[] = {{10, 20, 0}, {20, 25, 0}, {40, 60, 0}};
    const CommSpans spans = {list, 3};
    assert_int_equal(comm_lane_overlap(&spans, 0, 100), 35);
    assert_int_equal(comm_lane_overlap(&spans, 15, 50), 20);
    assert_int_equal(comm_lane_overlap(&spans, 25, 40), 0);
    assert_int_equal(comm_lane_overlap(&spans, 42, 43), 1);
    assert_int_equal(comm_lane_overlap(&spans, 60, 70), 0);
    assert_int_equal(comm_lane_overlap(&(CommSpans){0}, 0, 100), 0);
}

static Status count_told(void *self, const CommSpan *span)
{
    assert_int_equal(span->node, SENT);
    ++*(int *)self;
    return ST_OK;
}

enum { US = 1000 }; /* ns */

static void add(CommLane *lane, int node, int64_t begin, int64_t end)
{
    assert_int_equal(comm_lane_add(lane, &(CommSpan){begin * US, end * US, node}), ST_OK);
}

/* The collective runs from 10 to 50: 20 of that beside ops, and something waits for the last 15. */
static void test_step(void **state)
{
    (void)state;
    Plan plan;
    CommLane lane;
    int told = 0;
    fill_plan(&plan);
    assert_int_equal(comm_lane_make(&lane, &plan), ST_OK);
    assert_int_equal(lane.n, 2);
    const CommWatch watch = comm_lane_watch(&lane);
    watch.ran(watch.self, SENT, 1 * US, 2 * US); /* before the first step: not counted */
    for (int step = 0; step < 2; step++) {
        const int64_t at = 100 * step;
        comm_lane_step_begin(&lane);
        add(&lane, COMPUTE, at, at + 20);
        watch.waited(watch.self, LATER, (at + 20) * US, (at + 20) * US + 10); /* a mere look */
        add(&lane, COMPUTE, at + 22, at + 32);
        watch.ran(watch.self, SENT, (at + 10) * US, (at + 50) * US);
        watch.waited(watch.self, LATER, (at + 35) * US, (at + 52) * US);
        add(&lane, LATER, at + 52, at + 60);
        add(&lane, INLINE, at + 60, at + 65);
        assert_int_equal(comm_lane_step_end(&lane, at * US, count_told, &told), ST_OK);
    }
    const CommNode *sent = &lane.nodes[0], *inside = &lane.nodes[1];
    assert_int_equal(told, 2);
    assert_int_equal(sent->time.n, 2);
    assert_float_equal(sent->time.sum, 80e-6, 1e-9);
    assert_float_equal(sent->hidden, 40e-6, 1e-9);
    assert_float_equal(sent->waited, 30e-6, 1e-9);
    assert_int_equal(sent->waiter, LATER);
    assert_float_equal(inside->waited, 10e-6, 1e-9);
    assert_float_equal(inside->hidden, 0, 1e-9);
    assert_int_equal(inside->waiter, PLAN_NONE);
    assert_float_equal(lane.waited, 44e-6, 1e-9); /* 17 and 5 in each step */
    assert_float_equal(lane.seconds, 90e-6, 1e-9);
    assert_int_equal(lane.step.n, 2);
    comm_lane_free(&lane);
    plan_free(&plan);
}

/* One that is through only in the next step still finds what ran beside it in its own. */
static void test_late(void **state)
{
    (void)state;
    Plan plan;
    CommLane lane;
    fill_plan(&plan);
    assert_int_equal(comm_lane_make(&lane, &plan), ST_OK);
    const CommWatch watch = comm_lane_watch(&lane);
    comm_lane_step_begin(&lane);
    add(&lane, COMPUTE, 0, 40);
    assert_int_equal(comm_lane_step_end(&lane, 0, NULL, NULL), ST_OK);
    assert_int_equal(lane.nodes[0].time.n, 0);
    comm_lane_step_begin(&lane);
    watch.ran(watch.self, SENT, 30 * US, 60 * US);
    add(&lane, COMPUTE, 50, 70);
    assert_int_equal(comm_lane_step_end(&lane, 45 * US, NULL, NULL), ST_OK);
    assert_float_equal(lane.nodes[0].hidden, 20e-6, 1e-9);
    assert_int_equal(lane.computed.n, 1); /* the first step's is gone */
    comm_lane_free(&lane);
    plan_free(&plan);
}

/* A step that nobody shares has no lane, and costs nothing. */
static void test_alone(void **state)
{
    (void)state;
    Plan plan;
    CommLane lane;
    fill_plan(&plan);
    plan.n_nodes = 1;
    assert_int_equal(comm_lane_make(&lane, &plan), ST_OK);
    comm_lane_step_begin(&lane);
    add(&lane, COMPUTE, 0, 40);
    assert_int_equal(lane.computed.n, 0);
    assert_int_equal(comm_lane_step_end(&lane, 0, NULL, NULL), ST_OK);
    assert_int_equal(lane.step.n, 0);
    comm_lane_free(&lane);
    plan_free(&plan);
    comm_lane_free(&(CommLane){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
