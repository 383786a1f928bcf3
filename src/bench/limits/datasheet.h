/* Data sheets of GPUs: their rates stand beside the measured ones, and plans can be made by them for a GPU
 * that is not here. */
#pragma once

#include "bench/limits/limits.h"

typedef struct Datasheet {
    const char *name, *gpu; /* for --gpu; of its driver, without the maker */
    int capability, multiprocessors;
    int64_t memory_mib, cache_mib; /* cache: 0 where the document does not say */
    double watts;
    double rate[LIMIT_COUNT]; /* FLOP/s or bytes/s; 0: not in it */
    const char *source;       /* the document */
} Datasheet;

extern const Datasheet datasheet_table[]; /* ended by one without a name */

/* FLOP/s or bytes/s of a limit of the GPU that the driver calls `gpu`: of the largest matmul of each
 * precision and of memory; 0 for all others and for GPUs that are not in datasheets.def. */
double datasheet_find(const char *gpu, LimitId id);
/* What the GPU may draw; 0: it is not in datasheets.def. */
double datasheet_watts(const char *gpu);

/* What --gpu names: "rtx4090", "RTX 4090" or "NVIDIA GeForce RTX 4090". ST_USAGE: there is none. */
Status datasheet_named(const char *name, const Datasheet **sheet);

/* As if its rates had been measured. `limits->datasheet` is the document. */
void datasheet_limits(const Datasheet *sheet, Limits *limits);
