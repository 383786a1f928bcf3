/* The threads that compute on this CPU. A region is what they do together: it starts when the
 * caller, thread 0, hands its body to the others, and ends when all have returned from it.
 * Threads are created for the first region, kept, and created again when a region asks for
 * another number; one less is all but the last, which sleeps and leaves its core to another
 * thread of the process. A forked child starts its own.
 *
 * A region inside a region, or from a second thread meanwhile, runs on the calling thread alone:
 * its body sees one thread.
 *
 * Threads that wait spin as long as nobody else wants their cores (backend/cpu_contention.h): to
 * wake sixteen threads takes as long as a small GEMM, and on a virtual machine with a busy host,
 * threads that slept lost more time (docs/results/tried.md). Up to four threads spin for a
 * moment only, and then sleep: they wake soon, and on two cores a step takes half a percent
 * longer where they spin. More threads than processors, and those of a user who sets
 * OMP_WAIT_POLICY=passive, sleep at once. Between regions threads spin for a moment and sleep,
 * too, so that a library's threads have the cores. */
#pragma once

#include "base/status.h"

#include <stdint.h>

/* Starts the threads before the first region. ST_FAILED says how many the system starts, and
 * what to do. */
Status thread_team_start(int threads);

/* Every thread of the region runs it once. What `data` points to is the caller's. */
typedef void ThreadTeamBody(const void *data, int thread, int threads);
void thread_team_run(int threads, ThreadTeamBody *body, const void *data);

/* In a body, by every thread of the region: returns when all have come here. `threads` is the
 * body's. */
void thread_team_barrier(int threads);

/* Calls body for parts [first, last) of [0, n), each index once. Threads take the next `chunk`
 * indices as they become free. chunk 0: thread i of t has the fixed range from n i / t to n (i +
 * 1) / t. One thread gets all in one call. */
typedef void ThreadTeamRange(const void *data, int64_t first, int64_t last, int thread);
void thread_team_for(int threads, int64_t n, int64_t chunk, ThreadTeamRange *body,
                     const void *data);

/* How long threads wait awake for others, in nanoseconds. */
typedef struct ThreadTeamSpin {
    int64_t
        in_region; /* for a thread that is still busy in the region, unless cores are contended */
    int64_t before_sleep; /* after that, and between regions */
} ThreadTeamSpin;

ThreadTeamSpin thread_team_spin(int threads, int processors, const char *wait_policy);
