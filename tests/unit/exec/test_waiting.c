/* Threads that wait awake for others: not for ever, and not where other programs want their processors. */
#include "base/clock.h"
#include "exec/cpu_contention.h"
#include "exec/waiting.h"
#include "with_cmocka.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

enum { MILLISECOND = 1000000, THREADS = 12, ROUNDS = 50 };
static const int64_t second = 1000LL * MILLISECOND, hour = 3600LL * 1000 * MILLISECOND;

static int64_t waited(const int64_t *here, int64_t goal)
{
    const int64_t start = clock_nanoseconds();
    waiting_awake(here, goal);
    return clock_nanoseconds() - start;
}

static void gives_up(void **state)
{
    (void)state;
    const int64_t nobody = 0;
    assert_true(waited(&nobody, 1) >= 20 * MILLISECOND || cpu_contention_near(clock_nanoseconds()));
}

static void *come(void *here)
{
    const struct timespec a_while = {.tv_nsec = 5 * MILLISECOND};
    nanosleep(&a_while, NULL);
    __atomic_fetch_add((int64_t *)here, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void ends_when_all_are_here(void **state)
{
    (void)state;
    int64_t here = 1;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, come, &here), 0);
    while (__atomic_load_n(&here, __ATOMIC_RELAXED) < 2) waiting_awake(&here, 2);
    pthread_join(other, NULL);
    int64_t shortest = second;
    for (int i = 0; i < ROUNDS; i++) {
        const int64_t time = waited(&here, 2);
        if (time < shortest) shortest = time;
    }
    assert_true(shortest < 20 * MILLISECOND);
}

typedef struct CpuContention {
    size_t processor;
    int noticed; /* threads that have */
} CpuContention;

static void *be_crowded(void *at)
{
    CpuContention *crowd = at;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(crowd->processor, &only);
    if (sched_setaffinity(0, sizeof only, &only) != 0) return NULL;
    const int64_t end = clock_nanoseconds() + 60 * second;
    bool noticed = false;
    for (int64_t now = 0; now < end && __atomic_load_n(&crowd->noticed, __ATOMIC_RELAXED) < 2;) {
        now = clock_nanoseconds();
        if (noticed || !cpu_contention_near(now)) continue;
        noticed = true;
        __atomic_fetch_add(&crowd->noticed, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void notices_a_crowd(void **state)
{
    (void)state;
    CpuContention crowd = {.processor = (size_t)sched_getcpu()};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, be_crowded, &crowd), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert_int_equal(crowd.noticed, 2);
}

/* What was seen is forgotten: two looks that follow each other at once, an hour apart by what they are told. */
static void forgets_a_crowd(void **state)
{
    (void)state;
    bool near = true;
    for (int64_t i = 1; near && i < 1000; i++) {
        const int64_t now = clock_nanoseconds();
        (void)cpu_contention_near(now + 2 * i * hour);
        near = cpu_contention_near(now + (2 * i + 1) * hour);
    }
    assert_false(near);
}

/* What each thread has written before a barrier every other one sees behind it; in a region within a region, too. */
static void meet_again_and_again(int threads)
{
    int written[THREADS] = {0}, wrong = 0, of_inner = 0;
#pragma omp parallel num_threads(threads) reduction(+ : wrong, of_inner)
    {
        const int me = omp_get_thread_num(), next = (me + 1) % omp_get_num_threads();
        for (int round = 1; round <= ROUNDS; round++) {
            written[me] = round;
#pragma omp barrier
            wrong += written[next] != round;
#pragma omp barrier
        }
#pragma omp parallel num_threads(1) reduction(+ : of_inner)
        {
#pragma omp barrier
            of_inner += 1;
        }
#pragma omp barrier
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(of_inner, threads);
}

static void barriers_hold(void **state)
{
    (void)state;
    for (int threads = 1; threads <= THREADS; threads++) meet_again_and_again(threads);
}

static void knows_when_all_are_here(void **state)
{
    (void)state;
    for (int64_t threads = 1; threads <= THREADS; threads++) {
        for (int64_t place = 1; place <= 3 * threads; place++) {
            const int64_t goal = waiting_goal(place, threads);
            assert_true(goal % threads == 0 && goal >= place && goal - place < threads);
        }
    }
}

static void pays_for_many(void **state)
{
    (void)state;
    assert_false(waiting_pays(2, 16));
    assert_false(waiting_pays(4, 16));
    assert_true(waiting_pays(5, 16));
    assert_true(waiting_pays(16, 16));
    assert_false(waiting_pays(17, 16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_up),        cmocka_unit_test(ends_when_all_are_here),
        cmocka_unit_test(barriers_hold),   cmocka_unit_test(knows_when_all_are_here),
        cmocka_unit_test(pays_for_many),   cmocka_unit_test(notices_a_crowd),
        cmocka_unit_test(forgets_a_crowd), /* the last one: it looks far ahead */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
