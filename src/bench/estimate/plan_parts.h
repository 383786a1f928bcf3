/* The cost of a step by the parts of a model, from the scopes of its plan. */
#pragma once

#include "model/step_cost.h"

/* X(constant, name for people and programs, scopes that begin so: after "layer.N/") */
#define PLAN_PARTS(X)                                                      \
    X(EMBEDDING, "embedding", "embedding")                                 \
    X(PROJECTIONS, "q, k, v and output", "attn/qkv", "attn/output")        \
    X(NORMS, "norms", "attn/ln", "ffn/ln", "ln_final", "ffn/add")          \
    X(ATTENTION, "attention", "attn/")                                     \
    X(FEED_FORWARD, "feed-forward", "ffn/")                                \
    X(HEAD, "head and loss", "lm_head", "loss")                            \
    X(OPTIMIZER, "optimizer and copies of weights", "optimizer", "copies") \
    X(SUMS, "sums of gradients", "accumulate")                             \
    X(RANKS, "means over ranks", "ranks")                                  \
    X(OTHER, "other", "")

typedef enum PlanPart {
#define PLAN_PART(constant, name, ...) PLAN_PART_##constant,
    PLAN_PARTS(PLAN_PART)
#undef PLAN_PART
        PLAN_PART_COUNT
} PlanPart;

typedef struct PlanParts {
    PhaseCost phase[PLAN_PART_COUNT][PHASE_COUNT];
    PhaseCost step[PLAN_PART_COUNT]; /* without setup */
} PlanParts;

const char *plan_parts_name(PlanPart part);
/* They add up to step_cost_of(plan). */
void plan_parts_of(PlanParts *parts, const Plan *plan);
