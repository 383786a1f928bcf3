/* Threads that wait awake for others: not for ever, and not where processors are few. */
#include "base/clock.h"
#include "ops/meet_cpu.h"
#include "with_cmocka.h"

#include <omp.h>
#include <pthread.h>
#include <time.h>

enum { MILLISECOND = 1000000 };

static int64_t waited(const Meeting *meeting, int64_t worked)
{
    const int64_t start = clock_nanoseconds();
    meet_cpu_wait(meeting, start - worked);
    return clock_nanoseconds() - start;
}

static void gives_up(void **state)
{
    (void)state;
    const Meeting meeting = {.left = 1, .awake = true};
    assert_true(waited(&meeting, 8 * MILLISECOND) >= 2 * MILLISECOND); /* a quarter */
}

static void *do_a_piece(void *meeting)
{
    const struct timespec a_while = {.tv_nsec = 5 * MILLISECOND};
    nanosleep(&a_while, NULL);
    meet_cpu_done(meeting);
    return NULL;
}

static void ends_with_the_last_piece(void **state)
{
    (void)state;
    const int64_t hour = 3600LL * 1000 * MILLISECOND;
    Meeting meeting = {.left = 1, .awake = true};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, do_a_piece, &meeting), 0);
    assert_true(waited(&meeting, hour) < hour / 4);
    pthread_join(other, NULL);
    assert_int_equal(meeting.left, 0);
}

static void needs_processors(void **state)
{
    (void)state;
    assert_false(meet_cpu(10, 2).awake);
    assert_false(meet_cpu(10, 4).awake);
    assert_int_equal(meet_cpu(10, 5).awake, omp_get_num_procs() >= 5);
    assert_false(meet_cpu(10, omp_get_num_procs() + 1).awake);
    assert_int_equal(meet_cpu(10, 2).left, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_up),
        cmocka_unit_test(ends_with_the_last_piece),
        cmocka_unit_test(needs_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
