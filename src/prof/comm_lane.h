/* What ranks send each other in the profiled steps: when each collective ran, how long other nodes ran
 * beside it, and what waited for it. Collectives of the communication queue are told by its own thread. */
#pragma once

#include "exec/observer.h"
#include "prof/running_stats.h"

#include <pthread.h>

/* From `begin` to `end`, in ns: a node that ran, or what it waited. */
typedef struct CommSpan {
    int64_t begin, end;
    int node;
} CommSpan;

/* They follow each other: none overlaps another, or begins before one that stands before it. */
typedef struct CommSpans {
    CommSpan *list;
    size_t n;
} CommSpans;

typedef struct CommNode {
    int node;          /* a collective */
    RunningStats time; /* seconds of each run; other ranks that come late are part of it */
    double hidden;     /* seconds of all runs in which other nodes ran */
    double waited;     /* seconds of all runs in which the session waited */
    double longest;    /* of the waits for it, */
    int waiter;        /* and the node that waited so; PLAN_NONE: no node did */
} CommNode;

typedef struct CommLane {
    const Plan *plan;               /* outlives it */
    CommNode *nodes;                /* in the order of the plan */
    int n;                          /* 0: nothing is sent */
    bool counting;                  /* within a step */
    double seconds, hidden, waited; /* of all collectives; of all waits */
    RunningStats step;              /* seconds of the collectives of each step */
    double step_seconds;
    CommSpans computed, waits; /* of the step at hand and what is still needed of the last one */
    /* of the queue's thread, too */
    pthread_mutex_t lock;
    CommSpans ran;
    Status status;
} CommLane;

/* Allocates; comm_lane_free() frees. It must stay where it is. */
Status comm_lane_make(CommLane *lane, const Plan *plan);
void comm_lane_free(CommLane *lane);
CommWatch comm_lane_watch(CommLane *lane);

void comm_lane_step_begin(CommLane *lane);
/* The step fails at its end; ST_OK: it does not. */
void comm_lane_fail(CommLane *lane, Status status);
/* A node of the compute queue, a collective or not. */
Status comm_lane_add(CommLane *lane, const CommSpan *span);
/* Settles the collectives that are through. `begin` is that of the step. */
Status comm_lane_step_end(CommLane *lane, int64_t begin,
                          Status (*told)(void *self, const CommSpan *collective), void *self);

/* ns from `begin` to `end` in which one of the spans was. */
int64_t comm_lane_overlap(const CommSpans *spans, int64_t begin, int64_t end);
