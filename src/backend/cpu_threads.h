/* Threads that compute on this CPU. How many there are is --threads, or all cores, and nothing in the environment may make
 * it fewer in silence: a result names the threads that computed. */
#pragma once

#include "backend/cpu_info.h"

/* OpenMP starts no more than these (OMP_THREAD_LIMIT). */
int cpu_threads_most(void);

/* Where the user asks for no number: one for each usable core, as many as there may be. */
int cpu_threads_usual(const CpuInfo *info);

/* More threads than these processors must never wait for each other awake. Found out once. */
int cpu_threads_processors(void);

/* Before this process computes with so many: ST_FAILED says what keeps some of them from starting, and what to do. From
 * here on OpenMP starts as many threads as it is told, however busy the machine is, and none inside others. No fork after it. */
Status cpu_threads_start(int threads);
