/* Matrix-product rates, through the engine's own matmul: what a step could reach at best. */
#ifndef BENCH_LIMITS_PRODUCT_H
#define BENCH_LIMITS_PRODUCT_H

#include "bench/limits.h"

typedef struct LimitsBudget {
    double square; /* seconds one square product may take */
    double
        model;   /* seconds for all repetitions of one of the model's products; 2 are made anyway */
    int repeats; /* at least 2 */
} LimitsBudget;

/* Square products of growing size, as long as one takes less than budget->square: the rates of the
 * size that reached the highest. */
Status limits_product_square(Precision precision, int threads, const LimitsBudget *budget,
                             LimitsRate *out);

/* The products of the model called `size` (defaults for the rest), each as often as a step has it.
 * out[0] forward: y = x w^T; out[1]: dx = dy w; out[2]: dw = dy^T x. */
Status limits_product_model(const char *size, Precision precision, int threads,
                            const LimitsBudget *budget, LimitsRate out[3]);

#endif
