/* Measures the rows of a write-up within its budget: a row starts while there is time, and its record is
 * kept at once. Estimates only order the rows. */
#pragma once

#include "cli/published/published_order.h"
#include "cli/published/published_plan.h"

/* In the folder of the plan: the files of PublishedRecords. */
extern const char *const published_run_files[2];

typedef struct PublishedTime {
    double budget;   /* seconds, INFINITY: no limit */
    double deadline; /* by clock_seconds() */
    double share;    /* seconds for the samples of a row without a deadline, 0: all steps */
} PublishedTime;

/* The time of a suite that started at `begun`; a NAN budget is the device's default. */
PublishedTime published_run_time(const PublishedPlan *plan, bool gpu, double begun);

/* Seconds for the samples of a row, where `left` seconds remain for `rows` of them. */
double published_run_share(const PublishedTime *time, double left, int rows);

/* Reads the files that exist. */
Status published_run_read_known(const PublishedPlan *plan, PublishedRecords *known);

/* Marks the cells that need not run again. */
void published_run_mark_known(PublishedOrder *order, const PublishedRecords *known);
/* Is every cell measured, or left out for a reason? */
bool published_run_is_done(const PublishedOrder *order, const PublishedRecords *records);

/* Fills `records` and the files with what was measured, now or before. *signal is the signal that stopped
 * it, or 0. */
Status published_run(const PublishedPlan *plan, PublishedOrder *order, const PublishedTime *time,
                     PublishedRecords *records, int *signal);
