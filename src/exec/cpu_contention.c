#include "exec/cpu_contention.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Looks of a thread are 5 ms apart, or more: each takes some 4 us. */
static const int64_t often = 5000000;
/* Another program's turn takes a millisecond or more. Those of the system's own threads are shorter, and to wake up takes a
 * moment: so much of each wait does not count. */
static const int64_t long_wait = 300000, short_wait = 50000;
static const int64_t remembered = 100000000;

static int64_t near_until; /* of all threads */

/* What became of this thread so far. */
typedef struct Turns {
    long long ran, waited; /* nanoseconds; the latter ready, without a processor */
    long long count;       /* of times that it was given one: at least 1, where the system counts */
} Turns;

static bool read_turns(Turns *turns)
{
    char text[128];
    const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    const ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (n <= 0) return false;
    text[n] = '\0';
    return sscanf(text, "%lld %lld %lld", &turns->ran, &turns->waited, &turns->count) == 3 &&
           turns->count > 0;
}

/* A new process, which begins to count anew, has not. */
static bool has_waited(const Turns *before, const Turns *now)
{
    const int64_t turns = now->count - before->count;
    return before->count > 0 && turns >= 0 &&
           now->waited - before->waited - short_wait * turns > long_wait;
}

static void look(int64_t now)
{
    static _Thread_local int64_t next;
    static _Thread_local Turns before;
    Turns turns;
    if (now < next) return;
    next = now + often;
    const bool told = read_turns(&turns);
    if (!told || has_waited(&before, &turns))
        __atomic_store_n(&near_until, now + remembered, __ATOMIC_RELAXED);
    if (told) before = turns;
}

bool cpu_contention_near(int64_t now)
{
    look(now);
    return now < __atomic_load_n(&near_until, __ATOMIC_RELAXED);
}
