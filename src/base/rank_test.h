/* Whether two handfuls of samples differ, by ranks alone: no distribution is assumed.
 *
 * Nothing allocates or fails. All functions want both samples sorted, without NaN. */
#pragma once

#include <stdbool.h>

enum { RANK_TEST_EXACT = 20 }; /* largest sample of the exact distribution */

typedef struct RankTest {
    double u;   /* pairs with a < b; a tie counts half */
    double p;   /* of a U at least this far from the middle, both sides; NAN without samples */
    bool exact; /* neither sample is above RANK_TEST_EXACT */
} RankTest;

/* Mann and Whitney's U. Where it is not exact: the normal approximation, with the variance that
 * ties leave and the continuity correction. */
RankTest rank_test_mann_whitney(const double *a, int na, const double *b, int nb);

/* By which factor b is above a. */
typedef struct RankRatio {
    double ratio;     /* Hodges and Lehmann: the median of all b / a; NAN without samples */
    double low, high; /* 95 % interval; NAN where so few samples have none (3 and 3 do not) */
} RankRatio;

/* The test turned around: the factors that it would not refuse at 5 %, an order statistic of all b / a
 * at either end. From the distribution without ties, exact up to RANK_TEST_EXACT, so that ties make it
 * wider than need be, never narrower. Samples must be above 0. */
RankRatio rank_test_ratio(const double *a, int na, const double *b, int nb);
