/* Rates of matrix multiplications (GEMMs), through the engine's own matmul: what a step could reach
 * at best. */
#pragma once

#include "bench/limits/limits.h"
#include "bench/limits/placement.h"

typedef struct LimitsBudget {
    double large; /* seconds one large matmul may take */
    double model; /* seconds for all repetitions of one of the model's matmuls; 2 are made anyway */
    int repeats;  /* at least 2 */
    void (*pause)(void *self); /* between repetitions; NULL: nothing to do then */
    void *self;
} LimitsBudget;

extern const LimitsBudget limits_matmul_budget; /* of `limits` on a CPU */

/* Large matmuls of growing size, as long as one takes less than budget->large: the rates of the
 * shape that reached the highest. */
Status limits_matmul_large(const Placement *place, Precision precision, const LimitsBudget *budget,
                           LimitsRate *out);

/* The same of the system's BLAS library, in fp32 on a CPU; it splits the work over its threads itself. */
Status limits_matmul_library(const Placement *place, const LimitsBudget *budget, LimitsRate *out);

/* The precision's four rows: limits_matmul_large(), and the matmuls of a step of that model, each as often
 * as a step has it, forward (y = x w^T), dx = dy w and dw = dy^T x. */
Status limits_matmul_rows(const Placement *place, const Config *model, Precision precision,
                          const LimitsBudget *budget, LimitsScope scope, Limits *out);
