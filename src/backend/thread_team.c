#include "backend/thread_team.h"

#include "backend/cpu_contention.h"
#include "backend/cpu_places.h"
#include "backend/cpu_threads.h"
#include "backend/openmp_library.h"
#include "base/clock.h"
#include "base/log.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- how long to spin ---- */

enum { FEW = 4 };

#if defined __aarch64__
enum { MOMENT = 30000 }; /* nanoseconds, measured: docs/results/tried.md */
#else
enum { MOMENT = 60000 };
#endif

/* A thread still busy after 20 ms has more work than the others. */
enum { PATIENCE = 20000000 };

ThreadTeamSpin thread_team_spin(int threads, int processors, const char *wait_policy)
{
    const bool passive = wait_policy && strcasecmp(wait_policy, "passive") == 0;
    if (passive || threads > processors) return (ThreadTeamSpin){0, 0};
    return (ThreadTeamSpin){threads > FEW ? PATIENCE : 0, MOMENT};
}

/* ---- signals: a count that grows, and threads that wait for it ---- */

enum { CACHE_LINE = 64 };

typedef struct Signal {
    _Alignas(CACHE_LINE) uint32_t count;
    uint32_t sleepers;
} Signal;

/* A thread that goes to sleep writes `sleepers` and then reads `count`; here it is the other way
 * round. Both orders are sequentially consistent, so that one of the two threads sees the other. */
static void raise_to(Signal *s, uint32_t count)
{
    __atomic_store_n(&s->count, count, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&s->sleepers, __ATOMIC_SEQ_CST) == 0) return;
    syscall(SYS_futex, &s->count, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void raise_signal(Signal *s)
{
    raise_to(s, __atomic_load_n(&s->count, __ATOMIC_RELAXED) + 1);
}

static bool raised(const Signal *s, uint32_t before)
{
    return __atomic_load_n(&s->count, __ATOMIC_SEQ_CST) != before;
}

/* Gives the core to its other hardware thread for a moment. */
static void pause_core(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static void spin(const Signal *s, uint32_t before, int64_t time)
{
    if (time == 0 || raised(s, before)) return;
    const int64_t end = clock_nanoseconds() + time;
    while (!raised(s, before) && clock_nanoseconds() < end) pause_core();
}

static void spin_uncontended(const Signal *s, uint32_t before, int64_t time)
{
    if (time == 0) return;
    int64_t now = clock_nanoseconds();
    const int64_t end = now + time;
    while (!cpu_contention_near(now) && now < end && !raised(s, before)) {
        pause_core();
        now = clock_nanoseconds();
    }
}

static void wait_for(Signal *s, uint32_t before, int64_t awake)
{
    spin(s, before, awake);
    if (raised(s, before)) return;
    __atomic_fetch_add(&s->sleepers, 1, __ATOMIC_SEQ_CST);
    while (!raised(s, before)) {
        syscall(SYS_futex, &s->count, FUTEX_WAIT_PRIVATE, before, NULL, NULL, 0);
    }
    __atomic_fetch_sub(&s->sleepers, 1, __ATOMIC_SEQ_CST);
}

/* ---- barriers ---- */

typedef struct Barrier {
    Signal open;
    _Alignas(CACHE_LINE) int here; /* threads that have arrived */
} Barrier;

/* Returns the count of `open` before the barrier opens. */
static uint32_t arrive(Barrier *b, int threads)
{
    const uint32_t before = __atomic_load_n(&b->open.count, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&b->here, 1, __ATOMIC_ACQ_REL) == threads) {
        __atomic_store_n(&b->here, 0, __ATOMIC_RELAXED);
        raise_signal(&b->open);
    }
    return before;
}

/* ---- the team ---- */

static struct {
    int threads; /* started, with the caller; 0 before the first start */
    pthread_t *workers;
    ThreadTeamSpin spin;
    ThreadTeamBody *body; /* of the region; NULL: the threads end */
    const void *data;
    Signal start; /* of a region: its lowest bit says that the last thread has no part in it */
    Barrier barrier, end;
} team;

static bool busy; /* a region is running, or threads are being started */

static void wait_at(Barrier *b, int threads)
{
    const uint32_t before = arrive(b, threads);
    spin_uncontended(&b->open, before, team.spin.in_region);
    wait_for(&b->open, before, team.spin.before_sleep);
}

void thread_team_barrier(int threads)
{
    if (threads > 1) wait_at(&team.barrier, threads);
}

/* Worker i is thread i + 1. It does not wait for the others at the end, but for the next region: awake,
 * unless it had no part in the last one, when someone else needs its core. Nobody waits for one that has no
 * part: it may come late, and miss such regions. */
static void *work(void *number)
{
    const int thread = (int)(intptr_t)number, threads = team.threads;
    const ThreadTeamSpin time = team.spin;
    uint32_t region = 0;
    int part_of = threads;
    cpu_places_bind(thread, threads);
    openmp_library_set_threads(1);
    for (;;) {
        wait_for(&team.start, region, thread < part_of ? time.before_sleep : 0);
        region = __atomic_load_n(&team.start.count, __ATOMIC_SEQ_CST);
        part_of = threads - (int)(region & 1);
        if (thread >= part_of) continue;
        if (!team.body) return NULL;
        team.body(team.data, thread, part_of);
        const uint32_t before = arrive(&team.end, part_of);
        spin_uncontended(&team.end.open, before, time.in_region);
    }
}

/* For all threads, or all but the last. */
static void begin(ThreadTeamBody *body, const void *data, int threads)
{
    team.body = body;
    team.data = data;
    const uint32_t last = __atomic_load_n(&team.start.count, __ATOMIC_RELAXED);
    raise_to(&team.start, (last | 1) + 1 + (threads < team.threads));
}

/* ---- starting and ending threads ---- */

static void forget_threads(void)
{
    pthread_t *const workers = team.workers;
    memset(&team, 0, sizeof team);
    team.workers = workers;
}

/* A child of fork() has the calling thread alone. */
static void begin_child(void)
{
    forget_threads();
    busy = false;
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, begin_child);
}

/* The first `n` workers are there. */
static void end_threads(int n)
{
    begin(NULL, NULL, team.threads);
    for (int i = 0; i < n; i++) pthread_join(team.workers[i], NULL);
    forget_threads();
}

static Status start_threads(int threads)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    if (team.threads > 1) end_threads(team.threads - 1);
    pthread_t *workers = realloc(team.workers, (size_t)threads * sizeof *workers);
    if (!workers) return NO_MEMORY("for %d threads", threads);
    team.workers = workers;
    team.threads = threads;
    team.spin = thread_team_spin(threads, cpu_threads_processors(), getenv("OMP_WAIT_POLICY"));
    int error = 0, started = 1;
    while (started < threads && (error = pthread_create(&workers[started - 1], NULL, work,
                                                        (void *)(intptr_t)started)) == 0) {
        started++;
    }
    if (started == threads) return ST_OK;
    end_threads(started - 1);
    return FAIL(ST_FAILED,
                "cpu: the system starts %d of %d threads (%s): use --threads %d, or allow more "
                "(ulimit -u, pids.max of the cgroup, ulimit -v)",
                started, threads, strerror(error), started);
}

/* False: another region is running. */
static bool lock(void)
{
    return !__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE);
}

static void unlock(void)
{
    __atomic_store_n(&busy, false, __ATOMIC_RELEASE);
}

/* ---- regions ---- */

Status thread_team_start(int threads)
{
    if (threads <= 1 || threads == team.threads) return ST_OK;
    if (!lock()) return FAIL(ST_FAILED, "cpu: threads are started while others compute");
    const Status st = start_threads(threads);
    unlock();
    return st;
}

/* Tests alone come here without thread_team_start(). */
static bool has_threads(int threads)
{
    if (threads == team.threads || threads == team.threads - 1 || start_threads(threads) == ST_OK)
        return true;
    log_warning("%s; computing with 1", status_message());
    return false;
}

void thread_team_run(int threads, ThreadTeamBody *body, const void *data)
{
    const bool together = threads > 1 && lock();
    if (!together || !has_threads(threads)) {
        body(data, 0, 1);
    } else {
        begin(body, data, threads);
        body(data, 0, threads);
        wait_at(&team.end, threads);
    }
    if (together) unlock();
}

typedef struct Loop {
    int64_t n, chunk;
    ThreadTeamRange *body;
    const void *data;
    int64_t *next;
} Loop;

static void take_chunks(const void *data, int thread, int threads)
{
    const Loop *l = data;
    (void)threads;
    for (int64_t i; (i = __atomic_fetch_add(l->next, l->chunk, __ATOMIC_RELAXED)) < l->n;) {
        l->body(l->data, i, l->n - i < l->chunk ? l->n : i + l->chunk, thread);
    }
}

static void take_range(const void *data, int thread, int threads)
{
    const Loop *l = data;
    const int64_t first = l->n * thread / threads, last = l->n * (thread + 1) / threads;
    if (first < last) l->body(l->data, first, last, thread);
}

void thread_team_for(int threads, int64_t n, int64_t chunk, ThreadTeamRange *body, const void *data)
{
    _Alignas(CACHE_LINE) int64_t next = 0;
    const Loop loop = {n, chunk, body, data, &next};
    if (n <= 0) return;
    if (threads <= 1 || n <= chunk) {
        body(data, 0, n, 0);
    } else {
        thread_team_run(threads, chunk > 0 ? take_chunks : take_range, &loop);
    }
}
