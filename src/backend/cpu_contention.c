#include "backend/cpu_contention.h"

#include "backend/proc_text.h"

#include <stdio.h>

/* A thread reads its counters every 5 ms at most: reading them takes some 4 us. */
static const int64_t interval = 5000000;
/* A time slice of another program is a millisecond or more. Those of kernel threads are shorter,
 * and waking up takes a moment: `short_wait` of each wait does not count. */
static const int64_t long_wait = 300000, short_wait = 50000;
static const int64_t remembered = 100000000;

static int64_t near_until; /* shared by all threads */

/* Scheduler counters of this thread. */
typedef struct SchedCounters {
    long long ran, waited; /* nanoseconds; `waited`: ready, without a core */
    long long slices;      /* at least 1 where the system counts */
} SchedCounters;

static bool read_counters(SchedCounters *counters)
{
    char text[128];
    proc_text_read(text, sizeof text, "", "/proc/thread-self/schedstat");
    const int n =
        sscanf(text, "%lld %lld %lld", &counters->ran, &counters->waited, &counters->slices);
    return n == 3 && counters->slices > 0;
}

/* A child process counts from 0 again: its first difference says nothing. */
static bool has_waited(const SchedCounters *before, const SchedCounters *now)
{
    const int64_t slices = now->slices - before->slices;
    return before->slices > 0 && slices >= 0 &&
           now->waited - before->waited - short_wait * slices > long_wait;
}

static void look(int64_t now)
{
    static _Thread_local int64_t next;
    static _Thread_local SchedCounters before;
    SchedCounters counters;
    if (now < next) return;
    next = now + interval;
    const bool known = read_counters(&counters);
    if (!known || has_waited(&before, &counters))
        __atomic_store_n(&near_until, now + remembered, __ATOMIC_RELAXED);
    if (known) before = counters;
}

bool cpu_contention_near(int64_t now)
{
    look(now);
    return now < __atomic_load_n(&near_until, __ATOMIC_RELAXED);
}
