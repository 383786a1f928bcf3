/* What sets the circumstances of two runs apart: machine, build, libraries, and what "auto" became. */
#ifndef BENCH_ENVIRONMENT_DIFF_H
#define BENCH_ENVIRONMENT_DIFF_H

#include "bench/record_set.h"

/* Adds {"field": "libraries.blas", "a": ..., "b": ...} to the array for all in which the environments
 * of the two records, or the records themselves (threads, attention used), differ, unless it is there.
 * What holds for a moment (load, clocks, time, command) is left out; null stands for nothing known. */
Status environment_diff_add(json_t *differences, const RecordSet *set_a, const Record *a,
                            const RecordSet *set_b, const Record *b);

#endif
