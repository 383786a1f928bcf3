/* A profile read back from its record: what tables, CSVs and checks are made of, on any machine. */
#pragma once

#include "bench/record/record.h"
#include "plan/plan.h"

/* Of durations in nanoseconds, or of bytes. */
typedef struct ViewStats {
    int64_t n;
    double total, avg, med, min, max, std;
} ViewStats;

typedef struct ViewPhase {
    bool there;
    ViewStats wall;
    double unprofiled; /* profile_view_unprofiled() */
    double nodes;      /* ns of all nodes by the host's clock */
    ViewStats span;    /* of the GPU (prof/gpu_stats.h) */
    double busy, work;
    int64_t kernels;   /* launched */
    double attributed; /* ns of the rows of ops: ViewOp.time added up */
} ViewPhase;

typedef struct ViewOp {
    Phase phase;
    const char *scope, *op, *impl, *source, *shape;
    OpCategory category;  /* CATEGORY_COUNT: one this version does not know */
    const char *by;       /* who computes it: "own neon" */
    const char *part;     /* NULL: none of attention */
    const char *operands; /* of quantize: "activations", "weights", "gradients"; NULL: another op */
    int line, nodes;
    double flops, bytes; /* of one step */
    double allocated;    /* bytes of one step; NAN: not told */
    ViewStats host, device;
    ViewStats time; /* the one that counts: device on a GPU, host on a CPU */
} ViewOp;

typedef struct ViewName {
    const char *name, *brief, *kind;
    const char *in; /* the phase, in the lists by phase; NULL: none */
    int row;        /* of ops; -1: none */
    ViewStats time, bytes;
    double ops; /* of an NVTX range on a GPU: kernels, copies and memsets; NAN: not told */
} ViewName;

typedef struct ViewGaps {
    ViewStats time;
    double p99;
    const char *after, *before; /* the longest one; NULL: none */
} ViewGaps;

typedef struct ViewRange {
    Phase phase;
    const char *name;
    int level;
    ViewStats host, span, wall;
    double device; /* ns; NAN on a CPU */
    int64_t kernels;
} ViewRange;

typedef struct ViewThread {
    const char *name;
    double ran, waited; /* ns; NAN: not told */
} ViewThread;

/* Times in ns. */
typedef struct ViewCollective {
    const char *op, *name, *waited_by; /* NULL: nothing waited */
    bool beside;                       /* it runs in the communication queue */
    int64_t bytes;                     /* of the whole array */
    double wire;                       /* bytes that a rank sends in one run */
    ViewStats time;
    double hidden, waited; /* of all runs: beside other ops; something waited */
} ViewCollective;

/* Of one step, in ns: the median of the steps, the rest means. */
typedef struct ViewRank {
    double step, communication, hidden, waited;
} ViewRank;

typedef struct ViewGpu {
    double compute, copies, overhead;
    ViewGaps gaps; /* between kernels of one phase */
    ViewStats latency;
    int64_t unattributed, dropped;
    double unattributed_time;
} ViewGpu;

typedef struct ViewOs {
    int64_t voluntary, involuntary, minor, major;
    double user, system, ran, waited;
    ViewStats blocked, waiting;
} ViewOs;

typedef struct ProfileView {
    const Record *record; /* outlives it: texts are its own */
    bool gpu;             /* times are those of kernels */
    int64_t steps, traced_steps, events_left_out;
    double loop;         /* ns */
    double threads_wall; /* ns in which the threads ran what they ran */
    ViewStats step;
    ViewPhase phases[PHASE_COUNT];
    ViewOp *ops;
    ViewName *kernels;                   /* by name and row of ops */
    ViewName *names, *briefs;            /* by name, by short name */
    ViewName *phase_kernels, *phase_ops; /* by name and phase; older files have none */
    ViewName *calls, *op_calls;          /* by name, by name and row of ops */
    /* what CSVs of nsys tell beside: kernels by grid, NVTX ranges, the same on the GPU, calls of
     * the system */
    ViewName *grids, *nvtx, *projected, *os_calls;
    ViewRange *ranges;
    ViewThread *threads;
    ViewCollective *collectives; /* in the order of the step; of rank 0 */
    ViewRank *ranks;             /* none where the step is not shared */
    int n_collectives, n_ranks;
    int n_ops, n_kernels, n_names, n_briefs, n_phase_kernels, n_phase_ops, n_calls, n_op_calls;
    int n_grids, n_nvtx, n_projected, n_os_calls, n_ranges, n_threads;
    ViewGaps host_gaps; /* between calls of one step; on a CPU between the ops of one phase */
    ViewGpu device;
    ViewOs os;
    double limit_flops, limit_bandwidth; /* NAN: not known */
} ProfileView;

/* ST_USAGE: `record` has no profile, or one that cannot be read. */
Status profile_view_make(ProfileView *view, const Record *record);
void profile_view_free(ProfileView *view);

/* Phases from FORWARD on; PHASE_COUNT: no phase. */
Phase profile_view_phase(const char *name);
/* The kernels of one step that a row of ops launched. */
double profile_view_calls(const ProfileView *view, int row);

/* The statistic of the record (record_stat.h), of a stats; NAN of an empty one. */
double profile_view_middle(const ProfileView *view, const ViewStats *stats);
/* That statistic, in ns, of "forward" or "step" when it was not watched; NAN: not measured. */
double profile_view_unprofiled(const ProfileView *view, const char *phase);
