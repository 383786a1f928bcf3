/* Memory bandwidth: loops as simple as STREAM's over arrays that no cache holds. */
#ifndef BENCH_LIMITS_LIMITS_MEMORY_H
#define BENCH_LIMITS_LIMITS_MEMORY_H

#include "bench/limits/limits.h"

#include <stddef.h>

/* Bytes per array for this machine: several times its last-level caches, an eighth of the free
 * memory at most. */
Status limits_memory_bytes(size_t *bytes);

/* READ, WRITE, COPY and TRIAD with `threads` threads, `repeats` times each. */
Status limits_memory_measure(int threads, size_t bytes, int repeats, LimitsScope scope,
                             Limits *out);

#endif
