/* One CSV file of `nsys stats`, row by row: columns found by their headings, whatever their order
 * and units. */
#pragma once

#include "base/text.h"

#include <stdint.h>

typedef enum NsysInput {
#define NSYS_INPUT(id, ...) NSYS_INPUT_##id,
#include "report/profile/nsys_inputs.def"
#undef NSYS_INPUT
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
