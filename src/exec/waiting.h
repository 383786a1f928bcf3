/* How threads wait that have nothing to do: at the end of a parallel region, or at a barrier in it.
 *
 * Awake, as long as nobody else wants their processors: to wake sixteen threads takes as long as a small product, and on a
 * virtual machine whose host was busy threads that slept lost more time (docs/results/tried.md). Asleep where
 * other programs want them (exec/cpu_contention.h): else the time is taken from the thread that they all wait for. Asleep too where
 * they are few, or more than the processors.
 *
 * libgomp cannot tell the two apart: it lets a thread spin 300,000 turns, 18 ms on x86-64, where a turn's pause takes some
 * 60 ns, and 0.24 ms on a Neoverse V1. So it is told to spin shortly, and the linker puts what waits before its barriers
 * (GOMP_parallel and GOMP_barrier). With another compiler than GCC, or where the user has chosen (OMP_WAIT_POLICY,
 * GOMP_SPINCOUNT), OpenMP waits as it does. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Starts the program again with a short spin, because the library reads that before main() begins. Returns when it was
 * started so, cannot, or the user has chosen. */
void waiting_restart(char **argv);

/* For the test. A thread that is the `place`-th to arrive in a region waits until so many have. */
int64_t waiting_goal(int64_t place, int64_t threads);
bool waiting_pays(int threads, int processors);

/* Awake until *here is `goal` at least, for 20 ms at most, and not in a crowd. */
void waiting_awake(const int64_t *here, int64_t goal);
