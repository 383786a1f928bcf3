/* A profile read back from its record: what tables, CSVs and checks are made of, on any machine. */
#ifndef BENCH_PROFILE_VIEW_H
#define BENCH_PROFILE_VIEW_H

#include "bench/record.h"
#include "plan/plan.h"

/* Of durations in nanoseconds, or of bytes. */
typedef struct ViewTally {
    int64_t n;
    double total, avg, med, min, max, std;
} ViewTally;

typedef struct ViewPhase {
    bool there;
    ViewTally wall;
    double unprofiled; /* ns, mean of the same phase unwatched; NAN: not measured */
    double nodes;      /* ns of all nodes by the host's clock */
    ViewTally span;    /* of the GPU (prof/gpu_stats.h) */
    double busy, work;
    int64_t kernels;   /* launched */
    double attributed; /* ns of the rows of ops: ViewOp.time added up */
} ViewPhase;

typedef struct ViewOp {
    Phase phase;
    const char *scope, *op, *impl, *category, *source, *shape;
    const char *part; /* NULL: none of attention */
    int line, nodes;
    double flops, bytes; /* of one step */
    double allocated;    /* bytes of one step; NAN: not told */
    ViewTally host, device;
    ViewTally time; /* the one that counts: device on a GPU, host on a CPU */
} ViewOp;

typedef struct ViewName {
    const char *name, *brief, *kind;
    int row; /* of ops; -1: none */
    ViewTally time, bytes;
} ViewName;

typedef struct ViewRange {
    Phase phase;
    const char *name;
    int level;
    ViewTally host, span, wall;
    double device; /* ns; NAN on a CPU */
    int64_t kernels;
} ViewRange;

typedef struct ViewThread {
    const char *name;
    double ran, waited; /* ns; NAN: not told */
} ViewThread;

typedef struct ViewGpu {
    double compute, copies, overhead;
    ViewTally gaps, latency;
    double p99;
    const char *after, *before; /* of the longest gap; NULL: none */
    int64_t unattributed, dropped;
    double unattributed_time;
} ViewGpu;

typedef struct ViewOs {
    int64_t voluntary, involuntary, minor, major;
    double user, system, ran, waited;
    ViewTally blocked, waiting;
} ViewOs;

typedef struct ProfileView {
    const Record *record; /* outlives it: texts are its own */
    bool gpu;             /* times are those of kernels */
    int64_t steps, traced_steps, events_left_out;
    double loop;         /* ns */
    double threads_wall; /* ns in which the threads ran what they ran */
    ViewTally step;
    ViewPhase phases[PHASE_COUNT];
    ViewOp *ops;
    ViewName *kernels, *names, *briefs, *calls, *op_calls;
    ViewRange *ranges;
    ViewThread *threads;
    int n_ops, n_kernels, n_names, n_briefs, n_calls, n_op_calls, n_ranges, n_threads;
    ViewGpu device;
    ViewOs os;
    double limit_flops, limit_bandwidth; /* NAN: not known */
} ProfileView;

/* ST_USAGE: `record` has no profile, or one that cannot be read. */
Status profile_view_make(ProfileView *view, const Record *record);
void profile_view_free(ProfileView *view);

/* Nothing is missing, children add up to their parents, to 0.1 % of the parent, and each tally's figures can be those
 * of the same times. ST_FAILED says where not. */
Status profile_view_check(const ProfileView *view);

/* Phases from FORWARD on; PHASE_COUNT: no phase. */
Phase profile_view_phase(const char *name);
/* The kernels of one step that a row of ops launched. */
double profile_view_calls(const ProfileView *view, int row);

#endif
