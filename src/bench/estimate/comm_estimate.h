/* How long a step of several ranks takes, from its plan: a queue that computes and a queue that communicates,
 * each through its nodes in the order of the plan (Node.queue), a node after the one that it waits for in the
 * other queue (Binding.waits). What communication adds to the time of the compute nodes is exposed; the rest
 * is hidden under them. Times of collectives are those of bench/limits/comm_link.h. */
#pragma once

#include "bench/limits/comm_link.h"
#include "plan/plan.h"

/* What a step is simulated by. */
typedef struct CommEstimateInput {
    const Plan *plan;
    const int *waits;      /* of each node (exec/binding.h) */
    const double *seconds; /* of each node that computes, every time it runs */
    const CommLinks *links;
    /* A collective begins no sooner than the compute queue comes to its place in the plan: so on a CPU, where
     * the thread that computes hands it over. A GPU's streams wait for what waits[] says alone. */
    bool handed_over;
    /* What is left of the rate of compute nodes while a collective runs beside: 1, or on a CPU, where it
     * takes one of the rank's cores, what the other ones have. Below 1 only where handed_over. */
    double beside;
} CommEstimateInput;

/* Seconds of a step. */
typedef struct CommEstimate {
    double compute;       /* of the nodes that compute, behind each other */
    double communication; /* of the collectives, behind each other */
    double exposed;       /* step less compute */
    double step;
} CommEstimate;

/* ST_UNSUPPORTED: an op of communication that is not in the table, or ranks that fill no whole nodes. */
Status comm_estimate_step(const CommEstimateInput *input, CommEstimate *out);
/* The times of a plan of one rank, without links. */
double comm_estimate_compute(const Plan *plan, const double *seconds);
