/* One matmul through the engine (plan, binding, session), timed alone. */
#pragma once

#include "bench/limits/limits_matmul.h"
#include "exec/session.h"

typedef struct LimitsShape {
    int64_t m, n, k;
    bool transpose_a, transpose_b;
} LimitsShape;

double limits_engine_flops(const LimitsShape *shape);

/* A plan of `copies` matmuls, each with operands of its own. */
typedef struct LimitsEngine {
    Plan plan;
    Binding binding;
    Session session;
    int copies, runs; /* nodes of the plan; how often it runs for one time */
    double flops;     /* of one node */
} LimitsEngine;

/* Fills the operands and warms up. */
Status limits_engine_open(LimitsEngine *e, const Placement *place, const LimitsShape *shape,
                          Precision precision, int copies);
void limits_engine_close(LimitsEngine *e);
/* Sets `runs`, so that one time is long enough. */
Status limits_engine_choose_runs(LimitsEngine *e, const LimitsBudget *budget);
/* Seconds of one matmul. */
Status limits_engine_time(LimitsEngine *e, const LimitsBudget *budget, double *seconds);
/* The operands' numbers. */
void limits_engine_fill(void *data, DType dtype, int64_t n);
