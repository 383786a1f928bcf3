/* Measures the rows of a write-up by the clock: a row is begun as long as there is time, and what it finds is kept at
 * once. Estimates only order the rows. */
#ifndef CLI_LIKE_RUN_H
#define CLI_LIKE_RUN_H

#include "bench/record_set.h"
#include "cli/like_order.h"
#include "cli/like_plan.h"

#define LIKE_RUN_ROWS     "results.json"
#define LIKE_RUN_PROFILES "profile.json"

typedef struct LikeTime {
    double budget;   /* seconds, INFINITY: as long as it takes */
    double deadline; /* by clock_seconds() */
    double share;    /* seconds for the samples of a row where there is no deadline, 0: all steps */
} LikeTime;

/* The time of a suite that was begun then; NAN budgets are settled by the device. */
LikeTime like_run_time(const LikePlan *plan, bool gpu, double begun);

/* Seconds for the samples of a row, where so many are left for `rows` of them. */
double like_run_share(const LikeTime *time, double left, int rows);

/* What is finished in the two files of the folder. */
Status like_run_read_known(const LikePlan *plan, const char *name, RecordSet *known);

/* Marks what need not run again. */
void like_run_mark_known(LikeOrder *order, const RecordSet *rows, const RecordSet *profiles);

/* What was measured, now or before, is in `rows` and `profiles`, and in the files. *signal is what stopped it, or 0. */
Status like_run(const LikePlan *plan, LikeOrder *order, const LikeTime *time, RecordSet *rows,
                RecordSet *profiles, int *signal);

#endif
