/* forecast --check: what was measured beside what is forecast for it. */
#pragma once

#include "bench/forecast/step_forecast.h"
#include "bench/record/record_set.h"

typedef struct ForecastCheck {
    char name[160];                   /* "medium 4 x 512 bf16" */
    const char *phase;                /* "step" */
    double measured;                  /* seconds, as are */
    double forecast, roof, low, high; /* low and high: NAN where there is no interval */
    bool fitted;                      /* the efficiencies were fitted to it: it does not count */
} ForecastCheck;

/* All of them; zeroed it is empty. */
typedef struct ForecastChecks {
    const char *title;
    bool published; /* the figures are other people's, of phases too */
    ForecastCheck *rows;
    int n, left;   /* left: measured, and cannot be forecast */
    char why[256]; /* of the last one that was left */
} ForecastChecks;

Status forecast_check_add(ForecastChecks *checks, const ForecastCheck *row);
/* Remembers the failure of a row that cannot be forecast. */
void forecast_check_leave(ForecastChecks *checks, const char *why);
/* Every step of that program among the rows of files; `limits` are of the device that they ran on. */
Status forecast_check_records(ForecastChecks *checks, const RecordSet *rows,
                              const Efficiency *efficiency, EfficiencyProgram program,
                              const Limits *limits);
void forecast_check_free(ForecastChecks *checks);
