/* Profiles a session: nodes, phases and steps, in memory that does not grow with the number of steps. */
#pragma once

#include "exec/observer.h"
#include "prof/comm_lane.h"
#include "prof/gpu_stats.h"
#include "prof/os_usage.h"

enum { PROFILER_THREADS = 1024 };

/* Of the profiled steps. */
typedef struct ProfilerOs {
    OsUsage before;                /* of the step at hand */
    OsUsage sum;                   /* of all: differences added up */
    RunningStats blocked, waiting; /* seconds of each step: of the thread that runs it */
    OsThread *began, *ended;       /* PROFILER_THREADS each; as many as there are, up to that */
    int n_began, n_ended;
    int64_t began_at, ended_at; /* ns: when the threads were looked at */
} ProfilerOs;

/* Steps, or micro-batches of them, whose device events may be handed over together. */
enum { PROFILER_BATCH = 8 };

/* A step, or one of its micro-batches, whose device events are still to come. */
typedef struct ProfilerWindow {
    int64_t begin, end; /* ns */
    int64_t step;
    bool ends_step;
} ProfilerWindow;

typedef struct Profiler {
    const Binding *binding; /* outlives it */
    bool device;            /* work is queued on a device: `gpu` counts, not the host's times */
    bool waits;             /* there is no device tracer: synchronize after each node */
    int64_t trace_steps;    /* of which every event is kept */
    OpRows rows;
    RangeTree ranges;
    TraceLog log;
    GpuStats gpu; /* on a CPU only its by_name: an op's implementation stands for a kernel */
    ProfilerOs os;
    CommLane comm;                    /* what ranks send each other; empty where there is one */
    int64_t steps;                    /* done */
    bool recording;                   /* within a step */
    RunningStats phases[PHASE_COUNT]; /* seconds by the host's clock */
    RunningStats step;
    double node_seconds[PHASE_COUNT];  /* of the nodes, by the host's clock */
    double phase_seconds[PHASE_COUNT]; /* of the step at hand so far */
    int64_t step_begin, phase_begin, node_begin, loop_begin, loop_end;
    int64_t window_begin, paused; /* ns; of the step at hand: not its own time */
    ProfilerWindow pending[PROFILER_BATCH];
    int n_pending;
    size_t dropped; /* records that the device tracer lost */
} Profiler;

Status profiler_open(Profiler *p, const Binding *binding, bool device, int64_t trace_steps);
void profiler_close(Profiler *p);
/* For session_observe() and Session.watch; `p` must stay where it is. */
Observer profiler_observer(Profiler *p);
CommWatch profiler_comm_watch(Profiler *p);

void profiler_step_begin(Profiler *p);
void profiler_phase_begin(Profiler *p);
Status profiler_phase_end(Profiler *p, Phase phase);
/* Between two micro-batches of a step. */
void profiler_micro_batch_end(Profiler *p);
Status profiler_step_end(Profiler *p);
/* What the device did since the last call, in at most PROFILER_BATCH steps and micro-batches; they are
 * sorted. The time this takes is no part of a step. */
Status profiler_device_events(Profiler *p, TraceEvent *events, size_t n);
/* After the last step. */
void profiler_finish(Profiler *p);
