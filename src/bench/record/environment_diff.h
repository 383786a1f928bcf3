/* What sets the circumstances of two runs apart: machine, build, libraries, and what "auto" became. */
#pragma once

#include "bench/record/record_set.h"

/* Both the caller's. `known` finds what the list holds; its names end in a line break. */
typedef struct EnvironmentDiff {
    json_t *list, *known; /* an array and an object */
} EnvironmentDiff;

/* Adds {"field": "libraries.blas", "a": ..., "b": ...} to the list for all in which the environments
 * of the two records, or the records themselves (threads, attention used), differ, unless it is there.
 * What holds for a moment (load, clocks, time, command) is left out; null stands for nothing known. */
Status environment_diff_add(EnvironmentDiff *differences, const RecordSet *set_a, const Record *a,
                            const RecordSet *set_b, const Record *b);
