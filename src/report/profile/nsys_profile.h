/* The CSV files of one run of `nsys stats`, put together to a profile. */
#pragma once

#include "base/text.h"

#include <jansson.h>
#include <stdint.h>

/* ---- nsys_table.c: one CSV file row by row; columns are found by their headings ---- */

typedef enum NsysInput {
#define NSYS_SUM(id, ...)    NSYS_INPUT_##id,
#define NSYS_EVENTS(id, ...) NSYS_INPUT_##id,
#include "report/profile/nsys_inputs.def"
    NSYS_INPUT_COUNT
} NsysInput;

/* The report a file's name ends in, as "report1_cuda_gpu_kern_sum.csv" does; NSYS_INPUT_COUNT:
 * none. `prefix` is how many bytes of the name come before it: 0 where there is nothing but the
 * report. */
NsysInput nsys_table_input(const char *file, size_t *prefix);

/* Figures in ns, or bytes; NAN: the file does not tell. */
typedef struct NsysRow {
    const char *name, *group, *group2; /* until the next row; "" where there is no such column */
    int64_t n;
    double total, avg, med, min, max, std;
    double start; /* of an event of a trace, whose `total` is its duration */
    double ops;   /* of a projection: kernels, copies and memsets */
} NsysRow;

typedef struct NsysTable {
    NsysInput input;
    void *self;
    Status (*row)(void *self, const NsysRow *row);
    Text *missing; /* gets "Med, StdDev": columns that the file lacks and can do without */
} NsysTable;

/* What nsys prints before the header is passed over; unknown columns are. ST_USAGE names the place
 * and what is wrong: no such column, no number, a line cut short. */
Status nsys_table_read(const NsysTable *table, const char *text, size_t n);

/* ---- the profile ---- */

typedef struct NsysProfile NsysProfile;

/* nsys_profile_close() frees, for CLEANUP(). */
Status nsys_profile_open(NsysProfile **profile);
void nsys_profile_close(NsysProfile **profile);
/* One file's text; in the order of nsys_inputs.def. ST_USAGE, without the file's name, as
 * nsys_table_read(). */
Status nsys_profile_add(NsysProfile *profile, NsysInput input, const char *file, const char *text,
                        size_t n);
/* Appends what nsys_folder.h says; the prefix is the first `n` bytes. */
Status nsys_profile_finish(NsysProfile *profile, json_t *list, const char *prefix, size_t n);
