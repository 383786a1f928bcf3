/* Differences between the environments of two runs: machine, build, libraries, and how "auto" was
 * resolved. */
#pragma once

#include "bench/record/record_set.h"

/* The caller owns both. `known` indexes the list; its keys end in a line break. */
typedef struct EnvironmentDiff {
    json_t *list, *known; /* an array and an object */
} EnvironmentDiff;

/* Adds {"field": "libraries.blas", "a": ..., "b": ...} for every difference between the environments of
 * the two records, or between the records themselves (threads, attention), that the list lacks. Volatile
 * fields (load, clocks, time, command) are not compared. null: unknown. */
Status environment_diff_add(EnvironmentDiff *differences, const RecordSet *set_a, const Record *a,
                            const RecordSet *set_b, const Record *b);
