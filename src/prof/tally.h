/* Durations as they come, in fixed memory: count, sum, extremes and spread are exact; of the first
 * TALLY_KEPT the median is too, of more it is that of a random TALLY_KEPT of them. */
#ifndef PROF_TALLY_H
#define PROF_TALLY_H

#include "base/status.h"

#include <stdint.h>

enum { TALLY_KEPT = 256 };

/* A zeroed one is empty. */
typedef struct Tally {
    int64_t n;
    double sum, min, max;
    double mean, squares; /* Welford: sum of squared distances from the mean */
    double *kept;         /* owned; NULL while empty */
} Tally;

Status tally_add(Tally *tally, double value);
void tally_free(Tally *tally);

/* NAN of an empty one; the std of fewer than two is 0, as nsys writes it. */
double tally_quantile(const Tally *tally, double q);
double tally_std(const Tally *tally);

#endif
