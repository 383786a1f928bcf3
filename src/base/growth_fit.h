/* How a measured time grows with n: the exponent k of a + b n^k.
 *
 * Knows nothing of what was measured. Nothing allocates or fails. */
#pragma once

#include <stdbool.h>

enum { GROWTH_FIT_MOST = 64 }; /* points; those after them are not looked at */

typedef struct GrowthPoint {
    double n, y;   /* both above 0 */
    double spread; /* standard error of y as a share of it; 0: not known */
} GrowthPoint;

typedef enum GrowthVerdict {
    GROWTH_LAW,          /* the rest say why no exponent is claimed */
    GROWTH_FEW_POINTS,   /* fewer than GROWTH_FIT_LEAST different n */
    GROWTH_FLAT,         /* noise hides whether y depends on n at all */
    GROWTH_MOSTLY_FLOOR, /* fewer than GROWTH_FIT_LEAST_BEYOND different n beyond the floor */
    GROWTH_BENT, /* no a + b n^k: noise does not explain how far the points are from the nearest one */
} GrowthVerdict;

/* Three unknowns, and one point more to see by how much they miss. */
enum { GROWTH_FIT_LEAST = 4, GROWTH_FIT_LEAST_BEYOND = 3 };

/* Exponents looked for. */
#define GROWTH_FIT_LEAST_EXPONENT 0.02
#define GROWTH_FIT_MOST_EXPONENT  8.0

/* y = floor + factor n^exponent. */
typedef struct GrowthFit {
    GrowthVerdict verdict;
    double exponent, low,
        high; /* low to high holds the exponent 95 % of the time; within the exponents looked for */
    double floor, factor;
    bool floor_seen; /* the points exclude a floor of 0; otherwise `floor` is as good as 0 */
    double begins; /* least n whose factor n^exponent exceeds the floor; without one the least n */
    int points, beyond; /* different n: all, and those whose factor n^exponent exceeds the floor */
    double scatter;     /* standard deviation of the points around the law, as a share of y */
    double local_low, local_high; /* the exponents between neighbouring n */
} GrowthFit;

/* Points in any order. Least squares of log y; the interval is the profile of the squares over the
 * exponent at the quantile of Student's t, so that the scatter of the points around the law counts,
 * whatever it comes from. */
GrowthFit growth_fit_law(const GrowthPoint *points, int n);
