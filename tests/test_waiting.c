/* Threads that wait awake for others: not for ever, and not where other programs want their processors. */
#include "base/clock.h"
#include "exec/crowd.h"
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

/* Other programs run beside this one: in a crowd it does not wait at all, so it may try again for a minute. */
static void waits_and_gives_up(void **state)
{
    (void)state;
    const int64_t nobody = 0, end = clock_nanoseconds() + 60 * second;
    int64_t longest = 0;
    while (longest < 20 * MILLISECOND && clock_nanoseconds() < end) {
        const int64_t time = waited(&nobody, 1);
        if (time > longest) longest = time;
    }
    assert_true(longest >= 20 * MILLISECOND);
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
    for (int i = 0; i < ROUNDS; i++)
        waiting_awake(&here, 2); /* at once, or the test takes a second */
    assert_int_equal(here, 2);
}

/* Shares its processor with the other one that runs this; true: it has noticed. */
static void *be_crowded(void *processor)
{
    static const char yes;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(*(const size_t *)processor, &only);
    if (sched_setaffinity(0, sizeof only, &only) != 0) return NULL;
    const int64_t end = clock_nanoseconds() + 60 * second;
    for (int64_t now; (now = clock_nanoseconds()) < end;)
        if (crowd_near(now)) return (void *)&yes;
    return NULL;
}

static void notices_a_crowd(void **state)
{
    (void)state;
    size_t processor = (size_t)sched_getcpu();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, be_crowded, &processor), 0);
    for (int i = 0; i < 2; i++) {
        void *noticed = NULL;
        pthread_join(threads[i], &noticed);
        assert_non_null(noticed);
    }
}

/* What was seen is forgotten: two looks that follow each other at once, an hour apart by what they are told. */
static void forgets_a_crowd(void **state)
{
    (void)state;
    bool near = true;
    for (int64_t i = 1; near && i < 1000; i++) {
        const int64_t now = clock_nanoseconds();
        (void)crowd_near(now + 2 * i * hour);
        near = crowd_near(now + (2 * i + 1) * hour);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_and_gives_up), cmocka_unit_test(ends_when_all_are_here),
        cmocka_unit_test(notices_a_crowd),    cmocka_unit_test(forgets_a_crowd),
        cmocka_unit_test(barriers_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
