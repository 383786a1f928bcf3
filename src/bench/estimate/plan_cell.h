/* Everything that is known of a cell without running it. */
#pragma once

#include "bench/estimate/comm_forecast.h"
#include "bench/estimate/fit_advice.h"
#include "bench/estimate/fit_search.h"
#include "bench/estimate/fp8_memory.h"
#include "bench/estimate/plan_parts.h"
#include "bench/limits/limits.h"
#include "bench/record/record_set.h"
#include "config/settings.h"
#include "model/model.h"
#include "model/step_cost.h"

/* Bytes by kind at the fullest moment, and what comes on top of them. */
typedef struct PlanMemory {
    size_t kind[TK_COUNT]; /* alive at the peak; they add up to peak_live */
    size_t peak_live;
    size_t planned;   /* regions and arena: peak_live and what packing loses */
    size_t allowance; /* libraries' buffers and stacks */
    size_t resident;  /* in the process before it starts */
    size_t need
        [MODE_COUNT]; /* planned + allowance + resident, of every mode up to the one asked for */
    char peak_scope[PLAN_SCOPE]; /* where the peak is: "layer.0/ffn/w2" */
    Phase peak_phase;
    OpKind peak_op;
} PlanMemory;

typedef struct PlanCell {
    const Config *config;
    bool unsupported; /* then message says why, and nothing below is set */
    char message[256];
    Placement placement;
    Config settled;                        /* with the layers that --fp8-layers auto became */
    Attention attention;                   /* what `auto` became */
    int64_t parameters, active_parameters; /* all, and those that a token goes through */
    StepCost cost;
    PlanParts parts;
    HeadChunks head;
    char fp8_left[96]; /* Model.fp8.left */
    PlanMemory memory;
    Fp8Memory fp8_memory;
    double
        roof_seconds; /* the least a step could take on this machine; NAN: its limits are unknown */
    CommForecast forecast;              /* of a step of its ranks, where PlanRoom asks for it */
    FitLimit fits[SETTINGS_MAX_LIMITS]; /* none where nobody says how much memory there is */
    int n_fits;
    bool whole;                               /* the first of them is all that the machine has */
    FitLimit recomputed[SETTINGS_MAX_LIMITS]; /* the same with --recompute block, */
    bool with_recomputed;                     /* where that is another step */
    FitAdvice advice[SETTINGS_MAX_LIMITS];    /* of each that it does not fit in */
} PlanCell;

/* What there is to plan by, beside the config. */
typedef struct PlanRoom {
    size_t resident;       /* bytes in the process before it starts */
    const int64_t *limits; /* bytes to fit in, */
    int n_limits; /* 0: what the device has is the only one; none where no device is there to ask */
    bool usual;   /* without limits and another machine: the sizes that GPUs have, too */
    const Limits *machine;  /* another one's: it is planned for that; NULL: for this one */
    bool forecast;          /* how long a step of ranks takes, */
    const CommLinks *links; /* by these; NULL: not known */
    double step;            /* and by this time of one rank's step; 0: not given, */
    const RecordSet *rows;  /* or what these rows say of it; NULL: there are none */
} PlanRoom;

/* `config` must outlive the cell. */
Status plan_cell_make(PlanCell *cell, const Config *config, const PlanRoom *room);
