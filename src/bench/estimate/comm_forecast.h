/* The step of several ranks, from the step of one and the links between them: the nodes that compute take
 * their share of the roof, scaled to the time of one rank's whole step where that was measured, and
 * collectives the time that their links need (bench/estimate/comm_estimate.h). */
#pragma once

#include "bench/estimate/comm_estimate.h"
#include "bench/limits/placement.h"

/* What there is to go by. */
typedef struct CommForecastInput {
    const Limits *machine;  /* another one's; NULL: those stored for this one */
    const CommLinks *links; /* NULL: not known */
    double step;            /* measured seconds of one rank's step; 0: the roof */
    double
        alone; /* better: of this plan, its collectives left out, beside the other ranks; 0: not known */
} CommForecastInput;

typedef struct CommForecast {
    char why[256];     /* there is none: what is missing, and what to do; "": there is one */
    bool measured;     /* from a measured step; false: from the roof */
    double single;     /* seconds of one rank's step */
    double efficiency; /* that by the step of all: 1 where more ranks take no longer */
    CommEstimate times;
} CommForecast;

/* `binding` is that of the cell's plan. A failure is one of memory, or of the plan of one rank. */
Status comm_forecast_make(CommForecast *out, const Config *config, const Placement *placement,
                          const Binding *binding, const CommForecastInput *input);
