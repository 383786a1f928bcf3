/* How an exact figure grows with n: the terms of a + b n + c n^2.
 *
 * Knows nothing of what was measured. Nothing allocates or fails. */
#pragma once

#include "base/growth_fit.h"

/* y = term[0] + term[1] n + term[2] n^2 for n in [from, to]. */
typedef struct GrowthTerms {
    int degree; /* -1: no such terms reproduce the points */
    int points; /* different n that they reproduce; the terms were made from degree + 1 of them */
    double term[3];
    double from,
        to; /* outside the points follow something else: a figure may be the largest of several */
} GrowthTerms;

/* The terms that reproduce the most neighbouring points, more than half of all, of the lowest
 * degree. At least one point is left to check them; but of three points on no line the terms up to
 * n^2 are given. */
GrowthTerms growth_terms(const GrowthPoint *points, int n);
