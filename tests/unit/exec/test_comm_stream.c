/* Which collectives the first queue of a device waits for, when, and how often: on a device that only notes
 * what it is told. */
#include "exec/comm_stream.h"
#include "exec/session.h"
#include "with_cmocka.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static char told[4096]; /* "b0 e0 w0": begin and end of piece 0, and a wait for it */

static void tell(const char *what, int number)
{
    const size_t n = strlen(told);
    snprintf(told + n, sizeof told - n, "%s%s%d", n ? " " : "", what, number);
}

#define ASSERT_TOLD(text)                \
    do {                                 \
        assert_string_equal(told, text); \
        told[0] = '\0';                  \
    } while (0)

static int opened = -1;

static Status beside_open(Backend *be, int n)
{
    (void)be;
    opened = n;
    return ST_OK;
}

static Status beside_begin(Backend *be, int piece)
{
    (void)be;
    tell("b", piece);
    return ST_OK;
}

static Status beside_end(Backend *be, int piece)
{
    (void)be;
    tell("e", piece);
    return ST_OK;
}

static Status beside_wait(Backend *be, int piece)
{
    (void)be;
    tell("w", piece);
    return ST_OK;
}

static Status beside_seconds(Backend *be, int piece, double *seconds)
{
    (void)be;
    *seconds = piece + 1;
    return ST_OK;
}

static Status mark(Backend *be, int slot)
{
    (void)be;
    (void)slot;
    return ST_OK;
}

static int captured; /* graphs so far; each is its number */

static Status capture_begin(Backend *be)
{
    (void)be;
    tell("capture", captured);
    return ST_OK;
}

static Status capture_end(Backend *be, void **graph)
{
    (void)be;
    *graph = (void *)(intptr_t)++captured;
    tell("graph", captured);
    return ST_OK;
}

static Status launch(Backend *be, void *graph)
{
    (void)be;
    tell("launch", (int)(intptr_t)graph);
    return ST_OK;
}

static void drop(Backend *be, void *graph)
{
    (void)be;
    tell("drop", (int)(intptr_t)graph);
}

static const BackendApi api = {.name = "fake",
                               .mark = mark,
                               .capture_begin = capture_begin,
                               .capture_end = capture_end,
                               .launch = launch,
                               .drop = drop,
                               .beside_open = beside_open,
                               .beside_begin = beside_begin,
                               .beside_end = beside_end,
                               .beside_wait = beside_wait,
                               .beside_seconds = beside_seconds};

/* ---- the queue alone ---- */

/* Nodes 0, 2 and 5 are collectives. */
enum { NODES = 7 };
static Node nodes[NODES] = {{.op = OP_all_reduce}, {.op = OP_matmul}, {.op = OP_all_reduce},
                            {.op = OP_matmul},     {.op = OP_matmul}, {.op = OP_all_reduce},
                            {.op = OP_matmul}};

static void open_stream(CommStream *q)
{
    const Plan plan = {.nodes = nodes, .n_nodes = NODES};
    told[0] = '\0';
    assert_int_equal(comm_stream_open(q, &api, NULL, &plan), ST_OK);
    assert_int_equal(opened, 3);
}

static void put(CommStream *q, int node)
{
    assert_int_equal(comm_stream_begin(q, node), ST_OK);
    assert_int_equal(comm_stream_end(q, node), ST_OK);
}

static void wait_for(CommStream *q, int node)
{
    assert_int_equal(comm_stream_wait(q, node), ST_OK);
}

static void test_waits_once(void **state)
{
    (void)state;
    CommStream q;
    open_stream(&q);
    wait_for(&q, INT_MAX); /* nothing is in it */
    put(&q, 0);
    put(&q, 2);
    ASSERT_TOLD("b0 e0 b1 e1");
    wait_for(&q, 1); /* the collective before */
    wait_for(&q, 0);
    ASSERT_TOLD("w0");
    put(&q, 5);
    wait_for(&q, 4);
    wait_for(&q, INT_MAX);
    wait_for(&q, INT_MAX);
    ASSERT_TOLD("b2 e2 w1 w2");
    comm_stream_close(&q);
}

/* What an earlier step has left is waited for; what was left out is never. */
static void test_steps(void **state)
{
    (void)state;
    CommStream q;
    open_stream(&q);
    put(&q, 0);
    put(&q, 5);
    put(&q, 0);
    ASSERT_TOLD("b0 e0 b2 e2 w2 b0 e0");
    put(&q, 5);
    wait_for(&q, 3); /* node 2 was left out */
    ASSERT_TOLD("b2 e2 w0");
    wait_for(&q, INT_MAX);
    put(&q, 2);
    wait_for(&q, 1);
    ASSERT_TOLD("w2 b1 e1");
    comm_stream_close(&q);
}

static void test_times(void **state)
{
    (void)state;
    CommStream q;
    double seconds = 0;
    open_stream(&q);
    assert_int_equal(comm_stream_add_seconds(&q, &seconds), ST_OK);
    assert_true(seconds == 0); /* none has run */
    put(&q, 0);
    put(&q, 5);
    assert_int_equal(comm_stream_add_seconds(&q, &seconds), ST_OK);
    assert_true(seconds == 1 + 3);
    comm_stream_close(&q);
}

static void test_no_collectives(void **state)
{
    (void)state;
    CommStream q;
    const Plan plan = {.nodes = nodes + 3, .n_nodes = 2};
    opened = -1;
    assert_int_equal(comm_stream_open(&q, &api, NULL, &plan), ST_OK);
    assert_int_equal(opened, -1);
    assert_int_equal(comm_stream_open(&q, &api, NULL, &plan), ST_OK);
    comm_stream_close(&q);
}

/* ---- in a session ---- */

/* forward 0; backward 1, collective 2 beside it, 3, collective 4 in the first queue, 5, collective 6 beside;
 * optimizer 7, which reads what node 2 has made. */
enum { STEP = 8 };

static Status run_node(const OpCall *call)
{
    tell("n", (int)(call->node - call->plan->nodes));
    return ST_OK;
}

typedef struct Step {
    Node nodes[STEP];
    OpImpl impls[STEP];
    size_t workspace[STEP];
    int waits[STEP];
    void *state[STEP];
    Plan plan;
    Binding binding;
    Session session;
} Step;

static void make_step(Step *s, int64_t micro_batches)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < STEP; i++) {
        const bool collective = i == 2 || i == 4 || i == 6;
        s->nodes[i] = (Node){.op = collective ? OP_all_reduce : OP_matmul,
                             .phase = i == 0   ? PHASE_FORWARD
                                      : i == 7 ? PHASE_OPTIMIZER
                                               : PHASE_BACKWARD,
                             .queue = i == 2 || i == 6 ? QUEUE_COMMUNICATION : QUEUE_COMPUTE};
        s->impls[i] = (OpImpl){.name = "told", .run = run_node};
        s->waits[i] = i == 7 ? 2 : PLAN_NONE;
    }
    s->plan = (Plan){.nodes = s->nodes, .n_nodes = STEP, .micro_batches = micro_batches};
    s->binding = (Binding){.plan = &s->plan,
                           .backend = BACKEND_cuda,
                           .impls = s->impls,
                           .workspace = s->workspace,
                           .waits = s->waits};
    s->session = (Session){.plan = &s->plan,
                           .binding = &s->binding,
                           .api = &api,
                           .state = s->state,
                           .micro_batch = -1};
    assert_int_equal(session_join(&s->session, (struct Comm *)s), ST_OK); /* never looked into */
    told[0] = '\0';
    captured = 0;
}

#define BACKWARD "n1 b0 n2 e0 n3 b1 n4 e1 w1 n5 b2 n6 e2"

/* The optimizer need not wait for node 6; the step does. */
static void test_step(void **state)
{
    (void)state;
    Step s;
    make_step(&s, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(session_run_step(&s.session), ST_OK);
        ASSERT_TOLD("n0 " BACKWARD " n7 w2");
    }
    assert_int_equal(session_run(&s.session, PHASE_FORWARD), ST_OK);
    assert_int_equal(session_run(&s.session, PHASE_BACKWARD), ST_OK);
    assert_int_equal(session_run(&s.session, PHASE_OPTIMIZER), ST_OK);
    ASSERT_TOLD("n0 " BACKWARD " w2 n7"); /* a phase by itself ends with its collectives */
    s.session.alone = true;
    assert_int_equal(session_run_step(&s.session), ST_OK);
    ASSERT_TOLD("n0 n1 n3 n5 n7");
    comm_stream_close(&s.session.stream);
}

static void test_micro_batches(void **state)
{
    (void)state;
    Step s;
    make_step(&s, 2);
    assert_int_equal(session_run_step(&s.session), ST_OK);
    ASSERT_TOLD("n0 n1 n3 n5 n0 " BACKWARD " n7 w2");
    comm_stream_close(&s.session.stream);
}

/* Every graph ends with both queues joined, and none waits for what was queued outside of it. */
static void test_graphs(void **state)
{
    (void)state;
    Step s;
    make_step(&s, 1);
    assert_int_equal(session_run_step(&s.session), ST_OK);
    told[0] = '\0';
    assert_int_equal(session_capture(&s.session), ST_OK);
    ASSERT_TOLD("capture0 n0 graph1 capture1 " BACKWARD " w2 graph2 capture2 n7 graph3 "
                "capture3 n0 " BACKWARD " n7 w2 graph4 "
                "capture4 n1 n3 n5 graph5 capture5 n0 n1 n3 n5 n7 graph6");
    assert_int_equal(session_run_step(&s.session), ST_OK);
    ASSERT_TOLD("launch4");
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++)
        assert_int_equal(session_run(&s.session, (Phase)p), ST_OK);
    ASSERT_TOLD("launch1 launch2 launch3");
    s.session.alone = true;
    assert_int_equal(session_run_step(&s.session), ST_OK);
    ASSERT_TOLD("launch6");
    session_drop_graphs(&s.session);
    ASSERT_TOLD("drop1 drop2 drop3 drop4 drop5 drop6");
    comm_stream_close(&s.session.stream);
}

/* The graph of a micro-batch is launched without collectives, and for the last one with them. */
static void test_graphs_of_micro_batches(void **state)
{
    (void)state;
    Step s;
    make_step(&s, 3);
    assert_int_equal(session_run_step(&s.session), ST_OK);
    assert_int_equal(session_capture(&s.session), ST_OK);
    told[0] = '\0';
    for (int i = 0; i < 2; i++) {
        assert_int_equal(session_run_step(&s.session), ST_OK);
        ASSERT_TOLD("launch6 launch6 launch4 launch3");
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(session_run(&s.session, PHASE_FORWARD), ST_OK);
        assert_int_equal(session_run(&s.session, PHASE_BACKWARD), ST_OK);
    }
    ASSERT_TOLD("launch1 launch5 launch1 launch5 launch1 launch2");
    session_drop_graphs(&s.session);
    comm_stream_close(&s.session.stream);
}

static Status see(void *self, const ObserverEvent *event)
{
    (void)self;
    tell("s", event->node);
    return ST_OK;
}

/* For observers nodes run one at a time, all in the first queue. */
static void test_observed(void **state)
{
    (void)state;
    Step s;
    make_step(&s, 1);
    assert_int_equal(session_observe(&s.session, (Observer){.begin = see}), ST_OK);
    assert_int_equal(session_run_step(&s.session), ST_OK);
    ASSERT_TOLD("s0 n0 s1 n1 s2 n2 s3 n3 s4 n4 s5 n5 s6 n6 s7 n7");
    comm_stream_close(&s.session.stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_once), cmocka_unit_test(test_steps),
        cmocka_unit_test(test_times),      cmocka_unit_test(test_no_collectives),
        cmocka_unit_test(test_step),       cmocka_unit_test(test_micro_batches),
        cmocka_unit_test(test_graphs),     cmocka_unit_test(test_graphs_of_micro_batches),
        cmocka_unit_test(test_observed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
