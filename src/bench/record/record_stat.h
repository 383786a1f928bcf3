/* The statistic that stands for a result's samples: `stat`. Rates are derived from it, and every
 * table, chart and sentence about the result uses it. Files from before there was a choice have no
 * `stat`: they go by the mean. */
#pragma once

#include "bench/record/record_set.h"

Stat record_stat(const Record *r);
/* Of the first row that was measured. False: none was. */
bool record_stat_measured(const RecordSet *set, Stat *stat);
/* The same; the median where none was. */
Stat record_stat_of_set(const RecordSet *set);

/* The time of a phase ("step") by the result's statistic. False: not measured. */
bool record_stat_ms(const Record *r, const char *phase, double *ms);
/* What stands behind ±: of a median the distance to the farther end of its 95 % interval, of a mean
 * one standard deviation of the samples. False: too few samples, or a minimum, which has none. */
bool record_stat_spread(const Record *r, const char *phase, double *ms);

/* tokens_per_s, tflops, mfu, percent_of_limit and the rates of phases, from what the result has of
 * FLOPs and limits. `stat` must be set. */
Status record_stat_put_rates(Record *r);
/* What an hour of what it ran on costs, and how many tokens one unit of that buys. */
Status record_stat_put_price(Record *r, double price);
/* Lets the result go by another statistic: its rates are derived anew. */
Status record_stat_change(Record *r, Stat stat);
/* The same for all rows. */
Status record_stat_change_set(RecordSet *set, Stat stat);
