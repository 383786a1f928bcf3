/* How threads wait that have nothing to do: at the end of a parallel region, or at a barrier in it.
 *
 * Awake, as long as nobody else wants their processors: to wake sixteen threads takes as long as a small product, and a
 * virtual machine's processor that has gone to sleep comes back late, on whatever core its host has left. Asleep where
 * other programs want them (exec/crowd.h): else the time is taken from the thread that they all wait for. Asleep too where
 * they are few, or more than the processors.
 *
 * libgomp cannot tell the two apart: it lets a thread spin 300,000 turns, 18 ms on x86-64, where a turn's pause takes some
 * 60 ns, and 0.24 ms on a Neoverse V1. So it is told to spin shortly, and the linker puts what waits before its barriers
 * (GOMP_parallel and GOMP_barrier; with another compiler than GCC its own OpenMP waits alone). */
#ifndef EXEC_WAITING_H
#define EXEC_WAITING_H

#include <stdint.h>

/* Starts the program again with a short spin, because the library reads that before main() begins. Returns when it was
 * started so, cannot, or the user has chosen: how long (OMP_WAIT_POLICY, GOMP_SPINCOUNT), or on which processors
 * (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY): this thread is on the first of them by now, and the new program would
 * take it for the only one. */
void waiting_restart(char **argv);

/* Awake until *here is `goal` at least, for 20 ms at most; returns at once in a crowd. */
void waiting_awake(const int64_t *here, int64_t goal);

#endif
