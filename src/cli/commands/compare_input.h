/* The result files of one side of `compare`: a file, several, or the files of a folder. */
#pragma once

#include "bench/record/record_set.h"

typedef struct CompareInput {
    RecordSet rows;
    const char *path; /* the first of its paths, for tables and messages */
    int files;        /* that hold results */
    int starts;       /* the most of one cell; where there are several each counts as one sample */
} CompareInput;

/* Reads `n` paths. ST_USAGE names the file that is no result file and what is wrong with it; in a
 * folder a file of another kind (limits, memory, a trace) is left out. The caller frees it, after a
 * failure too. */
Status compare_input_read(CompareInput *input, const char *const *paths, int n);
void compare_input_free(CompareInput *input);
