/* Measures the limits of a CPU. */
#pragma once

#include "bench/limits/limits.h"

#include <stddef.h>

/* In this process. */
Status limits_cpu_measure(int threads, Limits *out);

/* Memory bandwidth: READ, WRITE, COPY, UPDATE and TRIAD, as simple loops as STREAM's over arrays that no
 * cache holds. */
Status limits_cpu_memory(int threads, size_t bytes, int repeats, LimitsScope scope, Limits *out);
/* Bytes per array for this machine: several times its last-level caches, at most an eighth of the
 * free memory. */
Status limits_cpu_memory_bytes(size_t *bytes);
