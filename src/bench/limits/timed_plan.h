/* A plan of one phase, forward, run over and over to be timed: operands alone, no model, no data. */
#pragma once

#include "exec/session.h"

typedef struct TimedPlan {
    Plan plan; /* made by the caller before it is opened; freed with the rest */
    Binding binding;
    Session session;
    int runs; /* how often it runs for one time */
} TimedPlan;

/* Its inputs hold random numbers, and it has run once; on a GPU as a graph. */
Status timed_plan_open(TimedPlan *t, BackendId backend, int device, int threads);
void timed_plan_close(TimedPlan *t);
/* Chooses `runs`: a queue is timed over several milliseconds, since marks and launches cost microseconds. */
Status timed_plan_choose_runs(TimedPlan *t);
/* Of all runs; by the device's own clock where work is queued. */
Status timed_plan_run(TimedPlan *t, double *seconds);

/* `n` random numbers in [-1, 1), as inputs hold. */
void timed_plan_fill(void *data, DType dtype, int64_t n);
