/* Threads that have run out of work wait awake for the others, so that nobody has to be woken for what comes next: on 16
 * threads that takes as long as a small product.
 *
 * They give up after a part of the time that they have worked (one who found nothing to do, at once). Where another
 * program keeps one of them from its processor, those of the others have to become free for it. Few threads lose more by
 * that than they gain, and so do threads that are more than the processors: they do not wait at all. OpenMP's own barrier
 * comes after it in any case. */
#ifndef OPS_MEET_CPU_H
#define OPS_MEET_CPU_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Meeting {
    int64_t left; /* pieces of work that are not done */
    bool awake;
} Meeting;

Meeting meet_cpu(int64_t pieces, int threads);

/* By the thread that did a piece. */
static inline void meet_cpu_done(Meeting *meeting)
{
    __atomic_fetch_sub(&meeting->left, 1, __ATOMIC_RELAXED);
}

/* By every thread, once it finds no more to do; it began at `since` (clock_nanoseconds()). */
void meet_cpu_wait(const Meeting *meeting, int64_t since);

#endif
