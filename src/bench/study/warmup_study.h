/* What leaving out warm-up steps does to a measurement, from many short runs, each in a process of its own
 * whose every step is known by its number. */
#pragma once

#include "bench/record/record_set.h"

enum { WARMUP_STUDY_MAX = 64 };

/* All runs with the same --warmup. Times in ms; NAN where there is nothing to compute them from. */
typedef struct WarmupSetting {
    int64_t warmup;
    int runs;
    double mean;          /* of the runs' means: what is reported, */
    double std;           /* and what one run shows as its spread (root of the mean variance) */
    double between;       /* standard deviation of the runs' means */
    double first, second; /* medians of the first and the second sample */
} WarmupSetting;

/* What the very first step of a process pays for: medians over all runs. */
typedef struct WarmupCold {
    double first;   /* the step */
    double plan;    /* before it: finding the device, which starts its libraries, and planning, */
    double open;    /* taking its memory and preparing all nodes, */
    double prepare; /* of which choosing algorithms */
    double system;  /* time in the kernel, all threads together */
    double faults;  /* pages touched for the first time */
    double capture; /* of graphs; 0: none */
} WarmupCold;

typedef struct WarmupStudy {
    WarmupSetting settings[WARMUP_STUDY_MAX]; /* by warmup */
    int n;
    WarmupCold cold;
    int64_t steady_from; /* the later half of the steps after the largest warm-up begins with it, */
    double steady;       /* and this is their median */
    /* How many steps at the start of a process can be told from the steady ones; -1: still so after the
     * largest warm-up. */
    int64_t enough;
    bool undecided; /* too few samples for any step to be told */
    double noise;   /* std / mean of the steady steps, over all runs */
    bool noisy;     /* more than a cold step may differ by: nothing can be said */
} WarmupStudy;

/* Rows of one cell that differ in `warmup` alone, in any order; those that are not ok are left out.
 * ST_FAILED: none is ok. */
Status warmup_study_make(WarmupStudy *study, const RecordSet *rows);
