#include "exec/crowd.h"

#include "backend/proc_text.h"

#include <stdio.h>

static const int64_t often = 5000000; /* looks are 5 ms apart: each takes some 5 us */
static const int64_t long_wait =
    300000; /* the system's own threads take 0.05 ms, another program a millisecond or more */
static const int64_t remembered = 100000000;

static int64_t near_until; /* of all threads */

/* Nanoseconds that this thread was ready without a processor. */
static bool read_waited(int64_t *waited)
{
    char text[PROC_TEXT_LINE];
    long long ran, ready;
    if (!proc_text_read("", "/proc/thread-self/schedstat", text, sizeof text)) return false;
    if (sscanf(text, "%lld %lld", &ran, &ready) != 2) return false;
    *waited = ready;
    return true;
}

static void look(int64_t now)
{
    static _Thread_local int64_t next, before = INT64_MAX;
    int64_t waited;
    if (now < next) return;
    next = now + often;
    if (!read_waited(&waited)) return;
    if (waited - before > long_wait)
        __atomic_store_n(&near_until, now + remembered, __ATOMIC_RELAXED);
    before = waited;
}

bool crowd_near(int64_t now)
{
    look(now);
    return now < __atomic_load_n(&near_until, __ATOMIC_RELAXED);
}
