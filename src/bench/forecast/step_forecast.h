/* How long a step takes on a device that need not be here: the nodes of its plan, each by the line of its op
 * (bench/forecast/efficiency.h). */
#pragma once

#include "bench/forecast/efficiency.h"
#include "bench/limits/placement.h"

enum { STEP_FORECAST_TOP = 5 };

typedef struct StepForecastOp {
    char scope[PLAN_SCOPE]; /* of all blocks: "ffn/w2" */
    OpKind op;
    Phase phase;
    double seconds, roof;
} StepForecastOp;

typedef struct StepForecast {
    char why[256];                     /* there is none, and why; "": there is one */
    double phase[PHASE_COUNT], step;   /* seconds */
    double bound[EFFICIENCY_BOUNDS];   /* what the step waits for, seconds; their sum is the step */
    double low, high;                  /* 90 % of steps are between; NAN: not known */
    double roof, roof_of[PHASE_COUNT]; /* at the limits */
    double tokens;                     /* of a step */
    double watts;                      /* that the device may draw; 0: not known */
    size_t need, available;            /* bytes; 0: not known */
    Placement placement;
    Attention attention; /* what `auto` became */
    StepForecastOp top[STEP_FORECAST_TOP];
    int n_top;
    char guessed[160]; /* ops whose line is of another precision or implementation; "": none */
} StepForecast;

/* A failure is one of memory, or of the plan; what cannot run or be told is `why`. */
Status step_forecast_make(StepForecast *out, const Efficiency *e, const Config *config,
                          EfficiencyProgram program, const Limits *machine);

typedef struct StepForecastNode {
    Phase phase;
    double seconds; /* on the device */
} StepForecastNode;

/* The nodes of a step in the order that they run, those of a repeated phase once. */
typedef struct StepForecastNodes {
    StepForecastNode *of;
    int n;
} StepForecastNodes;

/* Without a host. Starts from a zeroed list, whose `of` the caller frees. ST_UNSUPPORTED: it cannot run
 * there. */
Status step_forecast_nodes(StepForecastNodes *nodes, const Efficiency *e, const Config *config,
                           const Limits *machine);

double step_forecast_tokens_per_s(const StepForecast *f);
/* All of the step at the power of the data sheet: it takes no more. NAN: not known. */
double step_forecast_joules_per_token(const StepForecast *f);
