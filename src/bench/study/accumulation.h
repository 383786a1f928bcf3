/* One number added to itself many times, in every way that mixed precision has: what a sum loses when it,
 * or its terms, are narrow, and what better orders of summation save. */
#pragma once

#include "plan/plan.h"

#include <stdint.h>

typedef enum AccumulationOrder {
    ACCUMULATION_PLAIN,    /* s = s + x */
    ACCUMULATION_KAHAN,    /* what each addition lost is added to the next term */
    ACCUMULATION_PAIRWISE, /* halves first, then their sums */
    ACCUMULATION_ORDERS
} AccumulationOrder;

/* How the sum and its terms are kept. */
typedef struct AccumulationWay {
    const char *name; /* "fp32 += fp16" */
    DType sum, term;
    bool cast_first; /* the term becomes as wide as the sum before it is added */
} AccumulationWay;

extern const AccumulationWay accumulation_ways[];
extern const int accumulation_n_ways;

extern const char *const accumulation_orders[ACCUMULATION_ORDERS]; /* "plain", "Kahan", ... */

/* The sum of `count` terms `value`; every operation is rounded to the dtype of the sum. */
double accumulation_sum(const AccumulationWay *way, AccumulationOrder order, int64_t count,
                        double value);
