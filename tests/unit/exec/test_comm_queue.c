#include "exec/comm_queue.h"
#include "with_cmocka.h"

#include <limits.h>
#include <stdatomic.h>
#include <unistd.h>

enum { NODES = 50 };

typedef struct Work {
    int ran[4 * NODES];
    int n;
    _Atomic int released; /* nodes up to here may run */
    int fails;            /* this one does; -1: none */
} Work;

static Status run(void *self, int node)
{
    Work *w = self;
    while (atomic_load(&w->released) < node) usleep(100);
    w->ran[w->n++] = node;
    return node == w->fails ? FAIL(ST_FAILED, "node %d has failed", node) : ST_OK;
}

/* In the order in which they are put in, step after step; who waits for one does not wait for the next. */
static void test_order(void **state)
{
    (void)state;
    Work w = {.released = INT_MAX, .fails = -1};
    CommQueue *queue;
    assert_int_equal(comm_queue_open(&queue, run, &w, NODES, 1), ST_OK);
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < NODES; i++) comm_queue_put(queue, 2 * i);
        assert_int_equal(comm_queue_wait(queue, INT_MAX), ST_OK);
        assert_int_equal(w.n, (step + 1) * NODES);
    }
    for (int i = 0; i < w.n; i++) assert_int_equal(w.ran[i], 2 * (i % NODES));
    comm_queue_close(queue);
}

static void test_waits_for_one(void **state)
{
    (void)state;
    Work w = {.released = 3, .fails = -1};
    CommQueue *queue;
    assert_int_equal(comm_queue_open(&queue, run, &w, NODES, 1), ST_OK);
    comm_queue_put(queue, 3);
    comm_queue_put(queue, 7);
    assert_int_equal(comm_queue_wait(queue, 3), ST_OK);
    assert_int_equal(comm_queue_wait(queue, 6), ST_OK); /* node 7 is not asked for */
    assert_int_equal(w.n, 1);
    atomic_store(&w.released, 7);
    assert_int_equal(comm_queue_wait(queue, 7), ST_OK);
    assert_int_equal(w.n, 2);
    comm_queue_close(queue);
}

/* The message comes along; what follows does not run. */
static void test_failure(void **state)
{
    (void)state;
    Work w = {.released = INT_MAX, .fails = 4};
    CommQueue *queue;
    assert_int_equal(comm_queue_open(&queue, run, &w, NODES, 1), ST_OK);
    for (int i = 0; i < 8; i++) comm_queue_put(queue, i);
    assert_int_equal(comm_queue_wait(queue, INT_MAX), ST_FAILED);
    assert_string_equal(status_message(), "node 4 has failed");
    assert_int_equal(w.n, 5);
    comm_queue_close(queue);
    comm_queue_close(NULL);
}

/* It ends when what was put in is through. */
static void test_close(void **state)
{
    (void)state;
    Work w = {.released = INT_MAX, .fails = -1};
    CommQueue *queue;
    assert_int_equal(comm_queue_open(&queue, run, &w, 3, 1), ST_OK);
    for (int i = 0; i < 3; i++) comm_queue_put(queue, i);
    comm_queue_close(queue);
    assert_int_equal(w.n, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_waits_for_one),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
