/* Measures the rows of a write-up by the clock: a row is begun as long as there is time, and what it finds is kept at
 * once. Estimates only order the rows. */
#ifndef CLI_PUBLISHED_PUBLISHED_RUN_H
#define CLI_PUBLISHED_PUBLISHED_RUN_H

#include "bench/record/record_set.h"
#include "cli/published/published_order.h"
#include "cli/published/published_plan.h"

#define PUBLISHED_RESULTS_FILE  "results.json"
#define PUBLISHED_PROFILES_FILE "profile.json"

typedef struct PublishedTime {
    double budget;   /* seconds, INFINITY: as long as it takes */
    double deadline; /* by clock_seconds() */
    double share;    /* seconds for the samples of a row where there is no deadline, 0: all steps */
} PublishedTime;

/* The time of a suite that was begun then; NAN budgets are settled by the device. */
PublishedTime published_run_time(const PublishedPlan *plan, bool gpu, double begun);

/* Seconds for the samples of a row, where so many are left for `rows` of them. */
double published_run_share(const PublishedTime *time, double left, int rows);

/* What is finished in the two files of the folder. */
Status published_run_read_known(const PublishedPlan *plan, const char *name, RecordSet *known);

/* Marks what need not run again. */
void published_run_mark_known(PublishedOrder *order, const RecordSet *rows,
                              const RecordSet *profiles);

/* What was measured, now or before, is in `rows` and `profiles`, and in the files. *signal is what stopped it, or 0. */
Status published_run(const PublishedPlan *plan, PublishedOrder *order, const PublishedTime *time,
                     RecordSet *rows, RecordSet *profiles, int *signal);

#endif
