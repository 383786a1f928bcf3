/* How many threads compute on this CPU: --threads, or one for each core. Nothing in the
 * environment may make them fewer in silence: a result names the threads that computed. */
#pragma once

#include "backend/cpu_info.h"

/* The most that the user allows (OMP_THREAD_LIMIT). */
int cpu_threads_most(void);

/* The number without --threads: one for each usable core, at most cpu_threads_most(). */
int cpu_threads_usual(const CpuInfo *info);

/* Processors that this process may use. More threads than these must not spin while they wait
 * for each other. Read once. */
int cpu_threads_processors(void);
