/* The ranges that the nodes of a plan make by their scopes: "layer.3", "layer.3/attn" and
 * "layer.3/attn/softmax", each in its phase. A range is open from its first node to its last. */
#pragma once

#include "plan/plan.h"
#include "prof/running_stats.h"

enum { RANGE_TREE_LEVELS = 3 };

typedef struct Range {
    Phase phase;
    int level;             /* 0: outermost */
    char name[PLAN_SCOPE]; /* "layer.3/attn" */
    RunningStats host; /* seconds from its first node's begin to its last one's end, on the host */
    /* of what its nodes ran on a GPU; empty on a CPU */
    RunningStats span; /* seconds from the first kernel's begin to the last one's end */
    RunningStats wall; /* seconds from the earlier begin, host's or device's, to the later end */
    double device;     /* seconds something of it ran, all instances */
    int64_t kernels;   /* all instances; on a CPU the nodes that ran */
    /* of the instance that is open, or was last */
    int64_t begin, end;        /* host, ns */
    int64_t first, last, busy; /* device, ns; last < first: nothing yet */
} Range;

typedef struct RangeTree {
    Range *ranges;
    int n;
    int (*of)[RANGE_TREE_LEVELS]; /* of each node, by level; -1: none */
    int n_nodes;
} RangeTree;

/* Allocates; range_tree_free() frees, after a failure too. */
Status range_tree_make(RangeTree *tree, const Plan *plan);
void range_tree_free(RangeTree *tree);

/* The node is the first, or the last, of its range at that level (which it must have). */
bool range_tree_opens(const RangeTree *tree, int node, int level);
bool range_tree_closes(const RangeTree *tree, int node, int level);
