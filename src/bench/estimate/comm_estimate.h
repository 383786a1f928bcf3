/* How long a step of several ranks takes, from its plan: a queue that computes and a queue that communicates,
 * each through its nodes in the order of the plan (Node.queue), a node after the one that it waits for in the
 * other queue (Binding.waits), and a collective after all that the plan has before it (exec/node_waits.h): on
 * a CPU the thread that computes hands it over, on a GPU its stream waits for the other one. What
 * communication adds to the time of the compute nodes is exposed; the rest is hidden under them. Times of
 * collectives are those of bench/limits/comm_link.h. */
#pragma once

#include "bench/limits/comm_link.h"
#include "plan/plan.h"

/* What a step is simulated by. */
typedef struct CommEstimateInput {
    const Plan *plan;
    const int *waits;      /* of each node (exec/binding.h) */
    const double *seconds; /* of each node that computes, every time it runs */
    const CommLinks *links;
    /* What is left of the rate of compute nodes while a collective runs beside: 1, or on a CPU, where it
     * takes one of the rank's cores, what the other ones have. */
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
