/* What a GPU did in the profiled steps, added up step by step from its events: kernels, copies and calls
 * by name, how busy it was, and the gaps. */
#pragma once

#include "prof/op_rows.h"
#include "prof/range_tree.h"
#include "prof/trace_log.h"

/* ---- durations by name: of kernels, copies, calls ---- */

typedef struct NameStats {
    TraceKind kind;
    const char *name; /* of trace_log_name(): equal names are one pointer */
    int row;          /* of OpRows that launched it, or NAME_STATS_ANY_ROW */
    RunningStats seconds;
    RunningStats bytes; /* of copies and memsets; otherwise empty */
} NameStats;

enum { NAME_STATS_ANY_ROW = -2 };

/* What an entry is found by. Every event searches for one, so these lie together. */
typedef struct NameKey {
    const char *name;
    int row;
} NameKey;

/* A zeroed one is empty. */
typedef struct NameStatsTable {
    NameStats *list;
    NameKey *keys; /* of each */
    int n;
} NameStatsTable;

/* ---- gaps between what a host thread does one after the other: CUDA calls on a GPU, ops on a CPU ---- */

/* A zeroed one is empty. */
typedef struct HostGaps {
    RunningStats seconds;       /* from the latest end so far to the next begin */
    const char *after, *before; /* the longest one: names that outlive it; NULL: none */
    /* of the step or phase at hand */
    bool begun;  /* false: what comes next has no gap before it */
    int64_t end; /* ns: the latest so far */
    const char *last;
} HostGaps;

/* Something from `begin` to `end` in ns; they come in the order of their begins. A call made within another
 * one leaves no gap. */
void gpu_stats_gaps_add(HostGaps *gaps, const char *name, int64_t begin, int64_t end);

/* ---- all of a GPU ---- */

/* Of a phase, all profiled steps together, in seconds. */
typedef struct GpuPhase {
    RunningStats span; /* of each step: from its first event's begin to its last one's end */
    double now;        /* that of the step at hand */
    double busy;       /* something ran */
    double work;       /* durations added up: more than busy where they overlap */
    int64_t kernels;
} GpuPhase;

typedef struct GpuStats {
    NameStatsTable
        by_row; /* kernels, copies and memsets by name and the row of ops that launched them */
    NameStatsTable by_name;
    NameStatsTable by_brief; /* kernels alone */
    NameStatsTable by_phase; /* kernels, copies and memsets by name; `row` is the phase, -1: none */
    NameStatsTable by_op;    /* nodes by OpRow.brief; `row` is the phase, NAME_STATS_ANY_ROW: all */
    NameStatsTable calls;
    HostGaps call_gaps;       /* between calls of one step; on a CPU between the ops of one phase */
    NameStatsTable row_calls; /* calls by name and the row of ops that made them */
    GpuPhase phases[PHASE_COUNT];
    double compute, copies; /* seconds of kernels; of copies and memsets */
    double overhead;        /* seconds the tracing says it took */
    RunningStats gaps; /* seconds between an event's end and the next one's begin, in one phase */
    double longest;    /* gap, and what ran before and after it: nodes, -1 for none */
    int longest_after, longest_before;
    RunningStats
        latency; /* seconds from the begin of a launch to that of its kernel; of a graph, of its first */
    int64_t unattributed;
    double unattributed_seconds;
    int64_t *busy_ns; /* of each node in the step at hand */
} GpuStats;

/* Allocates; gpu_stats_free() frees. */
Status gpu_stats_make(GpuStats *stats, int n_nodes);
void gpu_stats_free(GpuStats *stats);

/* Counts it by its name, and by its name in the phase (-1: in none). */
Status gpu_stats_name(GpuStats *stats, const TraceEvent *event, int phase);
/* Adds a node of that row of ops and its nanoseconds. */
Status gpu_stats_op(GpuStats *stats, const OpRow *row, int64_t ns);
/* The events of one step, or of one of its micro-batches, in any order; sorts them by their begin. Names
 * must stay. */
Status gpu_stats_pass(GpuStats *stats, OpRows *rows, RangeTree *tree, const Plan *plan,
                      TraceEvent *events, size_t n);
/* After the last of a step: the spans of phases are those of its micro-batches together. */
void gpu_stats_step_end(GpuStats *stats);
