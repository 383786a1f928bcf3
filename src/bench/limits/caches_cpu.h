/* How fast a CPU reads from its caches. */
#pragma once

#include "bench/limits/limits.h"

/* L1_READ, L2_READ and L3_READ: each thread reads an array of its own again and again, together half of
 * what the level holds. A level is left out that the machine does not tell of, or whose half the levels
 * before it hold as well. */
Status caches_cpu_measure(int threads, int repeats, LimitsScope scope, Limits *out);
