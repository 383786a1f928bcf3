/* compare --live: two programs, or two commands, started in turn until it is sure which takes longer.
 *
 * * A start is one run of a command; its result has the rows of its cells. A pair is a start of OLD
 * and one of NEW, a fair coin says which comes first, and each cell and phase gets the logarithm of
 * its ratio (base/paired_test.h). */
#pragma once

#include "base/paired_test.h"
#include "base/text.h"
#include "bench/record/comparison.h"
#include "bench/record/record_set.h"

enum { LIVE_OLD, LIVE_NEW, LIVE_SIDES };
extern const char *const live_side_names[LIVE_SIDES]; /* "OLD", "NEW" */

/* What a machine was like while one side ran; live_conditions.c. */
typedef enum LiveCondition {
    LIVE_LOAD,
    LIVE_OTHERS,
    LIVE_STOLEN,
    LIVE_CLOCK,
    LIVE_CPU_TEMPERATURE,
    LIVE_GPU_CLOCK,
    LIVE_GPU_MEMORY_CLOCK,
    LIVE_GPU_TEMPERATURE,
    LIVE_GPU_POWER,
    LIVE_CONDITIONS
} LiveCondition;

typedef struct LiveSide {
    const char *command; /* as it was given */
    Text words;          /* of the whole command, each with its zero byte */
    char **argv;         /* they; NULL at the end */
    RecordSet rows;      /* of the last start */
    int starts;
    double condition[LIVE_CONDITIONS][PAIRED_TEST_MOST]; /* of every start; NAN: not told */
} LiveSide;

typedef struct LivePhase {
    bool there; /* both sides measured it, in every pair */
    double ms[LIVE_SIDES][PAIRED_TEST_MOST];
    double d[PAIRED_TEST_MOST]; /* log of NEW over OLD */
    PairedInterval interval;    /* of d */
    double change, low, high;   /* the same as fractions: 0.05 for 5 % slower */
    ComparisonVerdict verdict;
    bool sure, regression;
} LivePhase;

typedef struct LiveCell {
    LivePhase phases[COMPARISON_PHASES];
} LiveCell;

/* What is asked. */
typedef struct LiveTask {
    const char *phase_list;         /* --phase; NULL: step */
    bool wanted[COMPARISON_PHASES]; /* the same */
    Stat stat;                      /* of the steps of a start */
    double margin;                  /* same: the interval is within it, as a fraction */
    double fail_above;              /* a regression: slower, and by more */
    double budget;                  /* seconds */
} LiveTask;

typedef struct Live {
    LiveTask task;
    LiveSide sides[LIVE_SIDES];
    LiveCell *cells; /* row by row of the results */
    size_t n_cells;
    int pairs;
    double
        error; /* of each interval, so that all of them together are wrong at most once in 20 times */
    double seconds;
    int signal;                  /* that ended it; 0: none */
    Record *profile[LIVE_SIDES]; /* of the cell that changed most; NULL: not taken */
    char no_profile[240];        /* why not */
} Live;
