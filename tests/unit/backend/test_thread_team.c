/* Threads that compute together: every index once, barriers, regions inside regions, forks,
 * threads that do not start; and how they wait for each other. */
#include "backend/cpu_contention.h"
#include "backend/thread_team.h"
#include "base/clock.h"
#include "with_cmocka.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1 /* it ends a forked child that starts threads */
#endif
#endif
#if !defined UNDER_TSAN
#define UNDER_TSAN 0
#endif

enum { MILLISECOND = 1000000, THREADS = 12, ROUNDS = 50, INDICES = 1000 };
static const int64_t second = 1000LL * MILLISECOND, hour = 3600LL * 1000 * MILLISECOND;

/* ---- loops ---- */

typedef struct Visits {
    int *visits; /* of each index */
    int *calls;  /* of each thread */
    int64_t chunk;
} Visits;

static void visit(const void *data, int64_t first, int64_t last, int thread)
{
    const Visits *v = data;
    for (int64_t i = first; i < last; i++) v->visits[i]++;
    v->calls[thread]++;
    if (v->chunk > 0 && last - first > v->chunk) v->visits[first] += 1000;
}

static void visit_all(int threads, int64_t n, int64_t chunk)
{
    int visits[INDICES + 1] = {0}, calls[THREADS] = {0}, sum = 0;
    const Visits v = {visits, calls, threads > 1 ? chunk : 0};
    thread_team_for(threads, n, chunk, visit, &v);
    for (int64_t i = 0; i < n; i++) assert_int_equal(visits[i], 1);
    assert_int_equal(visits[n], 0);
    for (int i = 0; i < THREADS; i++) sum += calls[i];
    if (n == 0) assert_int_equal(sum, 0);
    if (chunk == 0) assert_true(sum == threads || sum == n);
}

static void each_index_once(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 7, 8, 9, 63, INDICES}, chunks[] = {0, 1, 3, 8, 2000};
    for (int threads = 1; threads <= THREADS; threads++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (size_t k = 0; k < sizeof chunks / sizeof *chunks; k++) {
                if (chunks[k] > 0 || sizes[i] == 0 || sizes[i] >= threads)
                    visit_all(threads, sizes[i], chunks[k]);
            }
        }
    }
}

/* Fixed ranges are the same in every region: what a thread has touched first it works on later. */
static void note_owner(const void *data, int64_t first, int64_t last, int thread)
{
    int *const *owners = data;
    for (int64_t i = first; i < last; i++) (*owners)[i] = thread;
}

static void fixed_ranges_stay(void **state)
{
    (void)state;
    int owners[INDICES], *at = owners;
    for (int round = 0; round < 20; round++) {
        memset(owners, -1, sizeof owners);
        thread_team_for(3, INDICES, 0, note_owner, &at);
        for (int i = 0; i < INDICES; i++) {
            const int owner = i < INDICES / 3 ? 0 : i < INDICES * 2 / 3 ? 1 : 2;
            assert_int_equal(owners[i], owner);
        }
    }
}

/* ---- regions ---- */

static void count(const void *data, int thread, int threads)
{
    int *const *sum = data;
    __atomic_fetch_add(*sum, 1 + 0 * (thread + threads), __ATOMIC_RELAXED);
}

static void thousands_of_regions(void **state)
{
    (void)state;
    int sum = 0, *at = &sum;
    for (int i = 0; i < 20000; i++) thread_team_run(2, count, &at);
    assert_int_equal(sum, 40000);
    for (int i = 0; i < 300; i++) thread_team_run(2 + i % 7, count, &at);
    assert_int_equal(sum, 40000 + 300 / 7 * (2 + 3 + 4 + 5 + 6 + 7 + 8) + 2 + 3 + 4 + 5 + 6 + 7);
}

/* Regions of all threads and of all but the last, in any order. */
static void with_or_without_the_last(void **state)
{
    (void)state;
    for (int threads = 3; threads <= 5; threads++) {
        int sum = 0, *at = &sum, want = 0;
        for (int i = 0; i < 6000; i++) {
            const int now = threads - (i * i / 7 % 3 == 0);
            thread_team_run(now, count, &at);
            want += now;
        }
        assert_int_equal(sum, want);
    }
}

typedef struct Meeting {
    int *written; /* by each thread */
    int *wrong, *inner;
} Meeting;

static void be_inner(const void *data, int thread, int threads)
{
    int *const *inner = data;
    thread_team_barrier(threads);
    if (thread == 0 && threads == 1) __atomic_fetch_add(*inner, 1, __ATOMIC_RELAXED);
}

/* What each thread has written before a barrier every other one reads behind it, and a region in
 * it has one thread. */
static void meet(const void *data, int thread, int threads)
{
    const Meeting *m = data;
    for (int round = 1; round <= ROUNDS; round++) {
        m->written[thread] = round;
        thread_team_barrier(threads);
        if (m->written[(thread + 1) % threads] != round)
            __atomic_fetch_add(m->wrong, 1, __ATOMIC_RELAXED);
        thread_team_barrier(threads);
    }
    thread_team_run(threads, be_inner, &m->inner);
    thread_team_barrier(threads);
}

/* Twelve are more than the processors of many machines. */
static void barriers_hold(void **state)
{
    (void)state;
    for (int threads = 2; threads <= THREADS; threads++) {
        int written[THREADS] = {0}, wrong = 0, inner = 0;
        thread_team_run(threads, meet, &(Meeting){written, &wrong, &inner});
        assert_int_equal(wrong, 0);
        assert_int_equal(inner, threads);
    }
}

/* Region after region, whose end is a barrier, too: the caller reads what the others wrote. */
static void write_number(const void *data, int thread, int threads)
{
    int *const *written = data;
    (*written)[thread] += threads;
}

static void regions_end_when_all_are_done(void **state)
{
    (void)state;
    int written[THREADS] = {0}, *at = written;
    for (int round = 1; round <= 500; round++) {
        thread_team_run(5, write_number, &at);
        for (int i = 0; i < 5; i++) assert_int_equal(written[i], 5 * round);
    }
}

static void *run_regions(void *data)
{
    for (int i = 0; i < 2000; i++) thread_team_run(3, count, data);
    return NULL;
}

/* From two threads at once: one of them computes alone. */
static void two_callers(void **state)
{
    (void)state;
    int sum = 0, others = 0, *at = &sum, *at_other = &others;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_regions, &at_other), 0);
    run_regions(&at);
    pthread_join(other, NULL);
    assert_true(sum >= 2000 && sum <= 6000);
    assert_true(others >= 2000 && others <= 6000);
}

/* ---- processes ---- */

static int status_of(pid_t child)
{
    int status = 0;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void child_starts_its_own(void **state)
{
    (void)state;
    int sum = 0, *at = &sum;
    if (UNDER_TSAN) skip();
    thread_team_run(4, count, &at);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 100; i++) thread_team_run(4, count, &at);
        for (int i = 0; i < 100; i++) thread_team_run(3, count, &at);
        _exit(sum == 4 + 400 + 300 ? 0 : 1);
    }
    assert_int_equal(status_of(child), 0);
    thread_team_run(4, count, &at);
    assert_int_equal(sum, 8);
}

/* In a process that may have no more threads. Root may always: it becomes somebody else. */
static int start_refused(void)
{
    const struct rlimit none = {0, 0};
    int sum = 0, *at = &sum;
    if (setrlimit(RLIMIT_NPROC, &none) != 0) return 2;
    if (geteuid() == 0 && setuid(65534) != 0) return 3;
    if (thread_team_start(4) != ST_FAILED) return 4;
    if (!strstr(status_message(), "cpu: the system starts 1 of 4 threads (") ||
        !strstr(status_message(), "use --threads 1, or allow more (ulimit -u"))
        return 5;
    if (strchr(status_message(), '\n')) return 6;
    close(STDERR_FILENO); /* it warns */
    thread_team_run(4, count, &at);
    return sum == 1 ? 0 : 7;
}

static void refused_threads_are_a_line(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0) _exit(start_refused());
    assert_int_equal(status_of(child), 0);
}

/* ---- waiting ---- */

static void spins_by_policy(void **state)
{
    (void)state;
    assert_int_equal(thread_team_spin(2, 16, NULL).in_region, 0);
    assert_int_equal(thread_team_spin(4, 16, NULL).in_region, 0);
    assert_true(thread_team_spin(4, 16, NULL).before_sleep > 0);
    assert_int_equal(thread_team_spin(5, 16, NULL).in_region, 20 * MILLISECOND);
    assert_int_equal(thread_team_spin(16, 16, "active").in_region, 20 * MILLISECOND);
    assert_int_equal(thread_team_spin(17, 16, NULL).in_region, 0);
    assert_int_equal(thread_team_spin(17, 16, NULL).before_sleep, 0);
    assert_int_equal(thread_team_spin(16, 16, "passive").in_region, 0);
    assert_int_equal(thread_team_spin(2, 16, "PASSIVE").before_sleep, 0);
}

typedef struct Contention {
    size_t processor;
    int noticed; /* threads that have */
} Contention;

static void *contend(void *at)
{
    Contention *contention = at;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(contention->processor, &only);
    if (sched_setaffinity(0, sizeof only, &only) != 0) return NULL;
    const int64_t end = clock_nanoseconds() + 60 * second;
    bool noticed = false;
    for (int64_t now = 0;
         now < end && __atomic_load_n(&contention->noticed, __ATOMIC_RELAXED) < 2;) {
        now = clock_nanoseconds();
        if (noticed || !cpu_contention_near(now)) continue;
        noticed = true;
        __atomic_fetch_add(&contention->noticed, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void notices_contention(void **state)
{
    (void)state;
    Contention contention = {.processor = (size_t)sched_getcpu()};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, contend, &contention), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert_int_equal(contention.noticed, 2);
}

/* Contention is forgotten: two looks that follow each other at once, an hour apart by what they
 * are told. */
static void forgets_contention(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_threads_are_a_line), /* the first one: no thread is there yet */
        cmocka_unit_test(each_index_once),
        cmocka_unit_test(fixed_ranges_stay),
        cmocka_unit_test(thousands_of_regions),
        cmocka_unit_test(with_or_without_the_last),
        cmocka_unit_test(barriers_hold),
        cmocka_unit_test(regions_end_when_all_are_done),
        cmocka_unit_test(two_callers),
        cmocka_unit_test(child_starts_its_own),
        cmocka_unit_test(spins_by_policy),
        cmocka_unit_test(notices_contention),
        cmocka_unit_test(forgets_contention), /* the last one: it looks far ahead */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
