/* What a step costs by its plan: nodes, FLOPs and bytes of every phase. */
#pragma once

#include "plan/plan.h"

typedef struct PhaseCost {
    int64_t nodes;       /* launches */
    double flops;        /* of all nodes */
    double matmul_flops; /* of matmuls and attention alone, nothing recomputed: what MFU counts */
    double recomputed_flops; /* of the forward nodes that backward computes again */
    double bytes;            /* each operand of each node read once, each result written once */
    double wire;             /* that a rank sends to others */
} PhaseCost;

typedef struct StepCost {
    PhaseCost phase[PHASE_COUNT];
    PhaseCost step; /* forward, backward and optimizer; setup runs once and is no part of it */
} StepCost;

StepCost step_cost_of(const Plan *plan);
/* Of all its runs in a step: forward and backward run for every micro-batch. */
PhaseCost step_cost_of_node(const Plan *plan, const Node *node);
void step_cost_add(PhaseCost *to, const PhaseCost *cost);

/* FLOPs per byte; NAN where nothing is moved. */
double step_cost_intensity(const PhaseCost *cost);
