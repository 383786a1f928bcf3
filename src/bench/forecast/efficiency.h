/* What nodes of a plan take, from what such nodes took where they were measured.
 *
 *     seconds = start + max(flops x F / rate + scores x S / rate of fp32, bytes x B / bandwidth)
 *
 * F is of matrix multiplications and attention. S is of attention: FLOPs of fp32 for each score, because
 * tensor cores do not compute exponentials. Where F and B are 1 an op is at the roof. `start` is what passes
 * before the first byte and after the last. The rates are those of the device that is forecast, the numbers
 * those of the one that was measured. */
#pragma once

#include "bench/limits/limits.h"
#include "config/config.h"
#include "plan/plan.h"

enum {
    EFFICIENCY_LINES = 256,
    EFFICIENCY_IMPL = 24,
    EFFICIENCY_SOURCES = 32,
    EFFICIENCY_HOSTS = 4
};

typedef struct EfficiencyLine {
    OpKind op;
    Precision precision;        /* of what multiplies; PRECISION_COUNT: bytes count alone */
    char impl[EFFICIENCY_IMPL]; /* of attention; "": any */
    double start, flops, score, bytes;
    int rows;     /* that were measured */
    double error; /* of them, as a logarithm, weighted by their time */
} EfficiencyLine;

/* Whose host submits the ops. */
typedef enum EfficiencyProgram {
    EFFICIENCY_ROOFSTEP,
    EFFICIENCY_TORCH, /* PyTorch */
    EFFICIENCY_PROGRAMS
} EfficiencyProgram;
extern const char *const efficiency_program_names[EFFICIENCY_PROGRAMS + 1];

/* What a host takes to submit an op, where ops are not captured in a graph. An op starts when it has been
 * submitted and the one before it has ended. */
typedef struct EfficiencyHost {
    EfficiencyProgram program;
    Exec exec;
    double seconds
        [PHASE_COUNT]; /* of each node of the plan; 0 where the device was what everything waited for */
    double error;      /* of a step that was left out of the fit, as a logarithm; NAN: not known */
    char sources[EFFICIENCY_SOURCES][96]; /* cells */
    int n_sources;
} EfficiencyHost;

typedef struct Efficiency {
    LimitsKey measured_on;
    EfficiencyLine lines[EFFICIENCY_LINES];
    int n_lines;
    double gap; /* seconds between two nodes of a graph */
    double reached
        [PRECISION_COUNT]; /* of the rate in the data sheet, by the largest matmul; 0: not known */
    double reached_memory;
    double error; /* of a step that was left out of the fit, as a logarithm; NAN: not known */
    char sources[EFFICIENCY_SOURCES][96]; /* cells, for people */
    int n_sources;
    EfficiencyHost hosts[EFFICIENCY_HOSTS];
    int n_hosts;
} Efficiency;

/* What a node has of everything that takes time. */
typedef struct EfficiencyWork {
    double flops, scores, bytes;
} EfficiencyWork;

/* The device as the lines see it. */
typedef struct EfficiencyRates {
    double flops[PRECISION_COUNT], fp32, bandwidth; /* per second */
} EfficiencyRates;

/* What a node waits for. */
typedef enum EfficiencyBound {
    EFFICIENCY_COMPUTE,
    EFFICIENCY_MEMORY,
    EFFICIENCY_START,
    EFFICIENCY_SUBMIT, /* for the host */
    EFFICIENCY_BOUNDS
} EfficiencyBound;
extern const char *const efficiency_bound_names[EFFICIENCY_BOUNDS]; /* "compute" */

/* The limits of a device: those of a data sheet are lowered to what the measured device reached. */
Limits efficiency_limits(const Efficiency *e, const Limits *limits);
/* The rates among these limits. False: the limits have no
 * rate of this precision, or of memory. */
bool efficiency_rates(const Efficiency *e, const Limits *limits, Precision precision,
                      EfficiencyRates *rates);

/* The line of such nodes. With `nearest`, where there is none: of another implementation, or another
 * precision. */
const EfficiencyLine *efficiency_line(const Efficiency *e, OpKind op, Precision precision,
                                      const char *impl, bool nearest);
/* The line of an op that was never measured: of a product that of matmul, else the medians of all that move
 * bytes. */
EfficiencyLine efficiency_usual(const Efficiency *e, OpKind op, Precision precision);
/* NULL: it was not measured. */
const EfficiencyHost *efficiency_host(const Efficiency *e, EfficiencyProgram program, Exec exec);
double efficiency_seconds(const EfficiencyLine *line, const EfficiencyWork *work,
                          const EfficiencyRates *rates, Precision precision);
/* The same in parts: EFFICIENCY_START and compute or memory; the others are 0. */
void efficiency_parts(const EfficiencyLine *line, const EfficiencyWork *work,
                      const EfficiencyRates *rates, Precision precision,
                      double seconds[EFFICIENCY_BOUNDS]);

/* In which a step multiplies there: what a step in fp8 multiplies in 16 bits is bf16. */
Precision efficiency_precision(OpKind op, Precision of_step);
/* Whether an op is told by its FLOPs, and whether by its scores, too. */
bool efficiency_multiplies(OpKind op);
bool efficiency_has_scores(OpKind op);
